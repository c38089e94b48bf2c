#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "proxy/config/parse_config.hpp"
#include "proxy/config/rule_shadows.hpp"
#include "tests/source_root.hpp"

namespace proxy {
namespace joined_recipes_test {

using nlohmann::json;

/// A request of a client of the recipe, and the rule that is for it; empty: none.
struct Sample {
    std::string url, rule;
    const char* method = "GET";
};

/// What the clients of each recipe ask for, by the public names and by a mirror's.
const std::map<std::string, std::vector<Sample>> kSamples{
    {"crates.json",
     {{"https://index.crates.io/config.json", "crates-index"},
      {"https://index.crates.io/se/rd/serde", "crates-index"},
      {"https://static.crates.io/crates/serde/1.0.0/download", "crates-files"},
      {"http://mirror.example.org/crates-index/config.json", "crates-index-mirror"},
      {"http://mirror.example.org/crates-index/gi/t-/git-upload-pack", "crates-index-mirror"},
      {"http://mirror.example.org/crates-files/crates/serde/1.0.0/download", "crates-files"}}},
    {"debian.json",
     {{"http://deb.debian.org/debian/dists/bookworm/InRelease", "debian-indexes"},
      {"http://deb.debian.org/debian/dists/bookworm/main/by-hash/SHA256/ab", "debian-by-hash"},
      {"http://security.debian.org/pool/updates/main/c/curl/curl_7.88.1_amd64.deb",
       "debian-by-hash"},
      {"http://deb.debian.org/debian/pool/main/n/npm/npm_9.2.0.orig.tar.gz", "debian-by-hash"}}},
    {"git.json",
     {{"https://github.com/team/project.bundle", "git-bundles"},
      {"https://github.com/team/project.git/info/refs?service=git-upload-pack", "git-talk"},
      {"https://github.com/team/project.git/git-upload-pack", "git-talk", "POST"},
      {"https://github.com/team/project.git/info/lfs/objects/batch", "git-talk", "POST"},
      {"https://github-cloud.githubusercontent.com/alambic/media/1/ab?X-Amz-Expires=1", "git-lfs"},
      {"http://mirror.example.org/github/team/project.bundle", "git-bundles-mirror"},
      {"http://mirror.example.org/github/team/project.git/info/refs", "git-talk-mirror"},
      {"http://mirror.example.org/github/team/project.git/git-upload-pack", "git-talk-mirror",
       "POST"},
      {"http://mirror.example.org/github-lfs/alambic/media/1/ab", "git-lfs"}}},
    {"github-releases.json",
     {{"https://github.com/team/tool/releases/download/v1.0/tool.tar.gz", "github-files"},
      {"https://github.com/team/tool/releases/latest/download/tool.tar.gz", "github-latest"},
      {"https://release-assets.githubusercontent.com/github-production/1?sig=a", "github-storage"},
      {"http://mirror.example.org/github-releases/team/tool/releases/download/v1/t",
       "github-files"}}},
    {"go.json",
     {{"https://proxy.golang.org/example.org/hello/@v/list", "go-lists"},
      {"https://proxy.golang.org/example.org/hello/@latest", "go-lists"},
      {"https://proxy.golang.org/example.org/hello/@v/v1.2.0.info", "go-lists"},
      {"https://proxy.golang.org/example.org/hello/@v/v1.2.0.zip", "go-files"},
      {"https://proxy.golang.org/sumdb/sum.golang.org/tile/8/0/001", "go-files"},
      {"https://proxy.golang.org/sumdb/sum.golang.org/latest", "go-lists"},
      {"http://mirror.example.org/go/sumdb/sum.golang.org/lookup/example.org/hello@v1.2.0",
       "go-lists"},
      {"http://mirror.example.org/go/example.org/hello/@v/v1.2.0.mod", "go-files"}}},
    {"images.json",
     {{"https://registry-1.docker.io/v2/", "images-ping"},
      {"https://registry-1.docker.io/v2/library/hello/manifests/latest", "images-tags"},
      {"https://registry-1.docker.io/v2/library/hello/manifests/sha256:ab", "images-digests"},
      {"https://registry-1.docker.io/v2/library/hello/blobs/sha256:ab", "images-blobs"},
      {"https://auth.docker.io/token?service=registry.docker.io", "images-tokens"},
      {"https://production.cloudfront.docker.com/registry-v2/docker/registry/v2/blobs/ab",
       "images-cdn"},
      {"http://docker.mirror.example.org/v2/", "images-ping"},
      {"http://docker.mirror.example.org/v2/library/hello/manifests/latest", "images-tags"},
      {"http://docker.mirror.example.org/v2/library/hello/blobs/sha256:ab", "images-blobs"},
      {"http://docker-auth.mirror.example.org/token?scope=x", "images-tokens"}}},
    {"images-private.json",
     {{"https://ghcr.io/v2/", "private-images-tokens"},
      {"https://ghcr.io/token?scope=x", "private-images-tokens"},
      {"https://ghcr.io/v2/team/hello/manifests/latest", "private-images"},
      {"https://pkg-containers.githubusercontent.com/ghcr1/blobs/sha256:ab", "private-images-cdn"},
      {"http://ghcr.mirror.example.org/v2/", "private-images-mirror"},
      {"http://ghcr.mirror.example.org/token", "private-images-tokens"},
      {"http://ghcr.mirror.example.org/v2/team/hello/blobs/sha256:ab", "private-images"}}},
    {"maven.json",
     {{"https://repo1.maven.org/maven2/org/example/hello/maven-metadata.xml", "maven-lists"},
      {"https://repo1.maven.org/maven2/org/example/hello/1.0/hello-1.0.jar", "maven-files"},
      {"http://mirror.example.org/maven2/org/example/hello/maven-metadata.xml.sha1", "maven-lists"},
      {"http://mirror.example.org/maven2/org/example/hello/1.0/hello-1.0.pom", "maven-files"}}},
    {"models.json",
     {{"https://huggingface.co/team/model/resolve/main/config.json", "models-files", "HEAD"},
      {"https://huggingface.co/api/models/team/model/revision/main", "models-lists"},
      {"https://huggingface.co/api/datasets/team/set", "models-lists"},
      {"https://cas-bridge.xethub.hf.co/xet-bridge-us/ab/cd?X-Amz-Expires=1", "models-cdn"},
      {"https://us.aws.cdn.hf.co/repos/ab/cd/ef?Expires=1", "models-cdn"},
      {"http://mirror.example.org/huggingface/team/model/resolve/main/x", "models-files-mirror"},
      {"http://mirror.example.org/huggingface/api/models/team/model", "models-lists"}}},
    {"npm.json",
     {{"https://registry.npmjs.org/left-pad", "npm-index"},
      {"https://registry.npmjs.org/@team%2fpackage", "npm-index"},
      {"https://registry.npmjs.org/left-pad/-/left-pad-1.0.0.tgz", "npm-files"},
      {"https://registry.npmjs.org/-/npm/v1/security/advisories/bulk", "", "POST"},
      {"http://mirror.example.org/npm/left-pad", "npm-index-mirror"},
      {"http://mirror.example.org/npm/webpack.bundle", "npm-index-mirror"},
      {"http://mirror.example.org/npm/resolve/latest", "npm-index-mirror"},
      {"http://mirror.example.org/npm/resolve/-/resolve-1.0.0.tgz", "npm-files"}}},
    {"pypi.json",
     {{"https://pypi.org/simple/pip/", "pypi-index"},
      {"https://files.pythonhosted.org/packages/ab/cd/ef/pip-1-py3-none-any.whl", "pypi-files"},
      {"http://mirror.example.org/pypi/simple/pip/", "pypi-index"},
      {"http://mirror.example.org/pypi-files/packages/ab/cd/ef/pip-1.tar.gz", "pypi-files"}}},
    {"rpm.json",
     {{"http://dl.fedoraproject.org/pub/fedora/repodata/repomd.xml", "rpm-index"},
      {"http://dl.fedoraproject.org/pub/fedora/repodata/0a1b-primary.xml.zck", "rpm-files"},
      {"http://repo.almalinux.org/almalinux/9/BaseOS/x86_64/os/Packages/bash-5.rpm", "rpm-files"}}},
    {"ranges.json",
     {{"http://download.windowsupdate.com/c/msdownload/update/x.cab", "updates-windows"},
      {"http://x.delivery.mp.microsoft.com/filestreamingservice/files/ab", "updates-windows"},
      {"http://cache1.steamcontent.com/depot/1/chunk/ab", "updates-steam"}}},
};

/// These name the hosts of another recipe, so a node has one of the two.
bool is_alternative(const std::string& recipe) {
    return recipe == "models-private" || recipe == "images-all";
}

std::map<std::string, json> recipes() {
    std::map<std::string, json> all;
    for (const auto& each :
         std::filesystem::directory_iterator(tests::source_root(__FILE__) / "configs" / "recipes"))
        if (each.path().extension() == ".json" && !is_alternative(each.path().stem().string()))
            all[each.path().filename()] = json::parse(std::ifstream(each.path()));
    return all;
}

/// As docs/howto/recipes.md says: the lists of all in one configuration.
json joined(const std::vector<json>& recipes) {
    json out = json::object();
    for (auto recipe : recipes) {
        for (const auto* list : {"origins", "rules"}) {
            for (auto& element : recipe.value(list, json::array()))
                out[list].push_back(std::move(element));
            recipe.erase(list);
        }
        recipe.update(out);  // the other settings of the first recipe that has them
        out = std::move(recipe);
    }
    return out;
}

LoadedConfig read(const json& config) {
    auto result =
        parse_config(config.dump(), [](const std::string&) { return std::string(40, 'k'); });
    EXPECT_EQ(describe(result.errors), "");
    return result.config ? std::move(*result.config) : LoadedConfig();
}

std::string rule_for(const RuleTable& rules, const Sample& sample) {
    const auto begin = sample.url.find("://") + 3;
    const auto slash = sample.url.find('/', begin);
    const auto* rule = rules.find(sample.method, sample.url.substr(begin, slash - begin),
                                  sample.url.substr(slash));
    return rule ? rule->name : "";
}

TEST(JoinedRecipes, HaveNoRuleThatAnotherKeepsFromItsRequests) {
    std::vector<json> all;
    for (auto& [name, recipe] : recipes()) all.push_back(std::move(recipe));
    for (int order = 0; order < 2; ++order, std::ranges::reverse(all)) {
        const auto config = read(joined(all));
        for (const auto& [rule, by, gets_others] : shadowed_rules(config.rules.all()))
            ADD_FAILURE() << config.rules.all()[rule].name << " is kept from its requests by "
                          << config.rules.all()[by].name;
    }
}

/// So the order of recipes in a joined configuration does not matter.
TEST(JoinedRecipes, LeaveTheRequestsOfOtherRecipesAlone) {
    auto all = recipes();
    for (const auto& [name, recipe] : all) {
        const auto samples = kSamples.find(name);
        if (samples == kSamples.end()) {
            ADD_FAILURE() << "kSamples lacks requests of " << name;
            continue;
        }
        const auto own = read(recipe);
        for (const auto& sample : samples->second)
            EXPECT_EQ(rule_for(own.rules, sample), sample.rule) << sample.url;
        for (const auto& [other, each] : all) {
            if (other == name) continue;
            const auto others = read(each);
            for (const auto& sample : samples->second)
                EXPECT_EQ(rule_for(others.rules, sample), "")
                    << other << " takes " << sample.url << " of " << name;
        }
    }
}

}  // namespace joined_recipes_test
}  // namespace proxy
