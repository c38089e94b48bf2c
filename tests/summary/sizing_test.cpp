#include "summary/sizing/sizing.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "tests/summary/bloom.hpp"

namespace summary {
namespace sizing_test {

struct PaperRow {
    unsigned bits_per_object;
    std::array<double, 12> rate;  // for 1 to 12 hash functions
};

// Fan et al. 2000, tables 3 to 5, to full precision.
constexpr PaperRow kPaperRows[] = {
    {2,
     {0.3934693403, 0.3995764009, 0.4688617281, 0.5589731543, 0.6516469062, 0.7360810194,
      0.8068326431, 0.8625315297, 0.9043485214, 0.9346272479, 0.955952937, 0.9706571599}},
    {3,
     {0.2834686894, 0.2367629001, 0.2525804578, 0.2940775493, 0.3511052488, 0.4179135244,
      0.4896757807, 0.5620731115, 0.6315219189, 0.6954065756, 0.7521398818, 0.8010552469}},
    {4,
     {0.2211992169, 0.1548181217, 0.1468915977, 0.1596613002, 0.1849078242, 0.2198313201,
      0.2628404547, 0.3124509872, 0.3669977761, 0.4246436903, 0.4835067153, 0.5418152671}},
    {5,
     {0.1812692469, 0.108688872, 0.09184883923, 0.09195364232, 0.1009251903, 0.1164498574,
      0.1377817073, 0.1646166065, 0.1966884816, 0.233602441, 0.2747748794, 0.3194356588}},
    {6,
     {0.1535182751, 0.08035449789, 0.06091618423, 0.05605667084, 0.05778111274, 0.06379688768,
      0.07340994446, 0.08648160501, 0.1030704926, 0.1232748958, 0.147148556, 0.1746517139}},
    {7,
     {0.1331221002, 0.06176353586, 0.04234831781, 0.03589899963, 0.03465784228, 0.03637873871,
      0.04032732429, 0.04630774068, 0.05435011566, 0.06458469052, 0.07717837993, 0.09229528241}},
    {8,
     {0.1175030974, 0.04892909357, 0.03057935449, 0.02396865082, 0.02167921705, 0.02157714146,
      0.02292974888, 0.02549173077, 0.02922441711, 0.03419090346, 0.04050907553, 0.0483258093}},
    {9,
     {0.1051606832, 0.0397055826, 0.0227779842, 0.01657695227, 0.0140703381, 0.01327213996,
      0.01348922705, 0.01446305118, 0.0161138471, 0.01844913199, 0.02152585834, 0.02543229846}},
    {10,
     {0.09516258196, 0.03285853988, 0.0174105865, 0.01181327091, 0.009430929226, 0.008436209268,
      0.008193722066, 0.008455472336, 0.009126993057, 0.01018589403, 0.01164950355, 0.01356056929}},
    {11,
     {0.08689928372, 0.02763809225, 0.0136005085, 0.008637327678, 0.006501773906, 0.005522184026,
      0.005125887011, 0.005086410644, 0.005309768306, 0.005761573501, 0.006438713028,
      0.007357251238}},
    {12,
     {0.07995558537, 0.02356786079, 0.01082307718, 0.00645684533, 0.00459450821, 0.003710781501,
      0.003293928322, 0.003142350346, 0.003169500782, 0.003338656989, 0.003637983008,
      0.004070042877}},
    {13,
     {0.07403892136, 0.02033364227, 0.008751665976, 0.004921027453, 0.003318258942, 0.002552723393,
      0.002168917336, 0.001989714265, 0.001938411671, 0.001980407602, 0.002101253429,
      0.002297523765}},
    {14,
     {0.0689372203, 0.01772149357, 0.007175907151, 0.003814734362, 0.002443291221, 0.001793380021,
      0.001460078749, 0.001288738174, 0.001212697984, 0.001201166031, 0.001239927869,
      0.00132341263}},
    {15,
     {0.06449301497, 0.01558170028, 0.005956242779, 0.003001893998, 0.001830313484, 0.00128397109,
      0.001002849274, 0.0008522662919, 0.0007748560288, 0.0007439919808, 0.0007468461655,
      0.0007775114788}},
    {16,
     {0.06058693719, 0.0138069779, 0.004997657101, 0.002394056198, 0.001392470839, 0.0009350969211,
      0.0007015194262, 0.0005744962222, 0.0005048817819, 0.0004699884521, 0.0004587107308,
      0.0004655730337}},
    {20,
     {0.0487705755, 0.009055917006, 0.002702581148, 0.001079683643, 0.0005295633562,
      0.0003031285221, 0.0001958694666, 0.0001395533695, 0.0001077432474, 8.894242607e-05,
      7.768028933e-05, 7.116962682e-05}},
    {24,
     {0.04081054289, 0.006392895632, 0.001622362669, 0.0005554440623, 0.0002352471379,
      0.0001171389997, 6.631829562e-05, 4.169085162e-05, 2.859466024e-05, 2.110950569e-05,
      1.659409536e-05, 1.376989935e-05}},
    {32,
     {0.03076676552, 0.003670776958, 0.0007166684121, 0.0001906326388, 6.333770673e-05,
      2.49765765e-05, 1.130286718e-05, 5.731505077e-06, 3.199284484e-06, 1.938975036e-06,
      1.262058258e-06, 8.744062519e-07}},
};

TEST(FalsePositiveRate, AgreesWithThePapersTable) {
    for (const auto& row : kPaperRows) {
        for (unsigned hashes = 1; hashes <= row.rate.size(); ++hashes) {
            EXPECT_NEAR(false_positive_rate(row.bits_per_object, hashes) / row.rate[hashes - 1], 1,
                        1e-9)
                << row.bits_per_object << " bits, " << hashes << " functions";
        }
    }
}

TEST(FalsePositiveRate, AgreesWithTheLectureNotesTable) {
    EXPECT_NEAR(false_positive_rate(6, 4), 0.0560566708403, 1e-12);
    EXPECT_NEAR(false_positive_rate(8, 6), 0.0215771414632, 1e-12);
    EXPECT_NEAR(false_positive_rate(12, 8), 0.0031423503457, 1e-12);
    EXPECT_NEAR(false_positive_rate(16, 11), 0.000458710730815, 1e-12);
}

TEST(Sizing, AgreesWithTheLectureNotesExamples) {
    EXPECT_NEAR(optimal_bits(1e9, 0.02), 8142363336.478476, 1e-3);
    EXPECT_NEAR(optimal_bits(1e9, 0.02) / 8, 1017795417.0598094, 1e-3);
    EXPECT_NEAR(optimal_bits(1, 0.01), 9.585058377367439, 1e-12);
    EXPECT_LE(optimal_bits(1, 0.01), 10);
    // Their class rounds both down: n = 10, f = 0.01 gives m = 95.
    EXPECT_EQ(std::floor(optimal_bits(10, 0.01)), 95);
}

TEST(Sizing, TheBestWholeNumberOfHashesIsTheOneWithTheLowestError) {
    EXPECT_EQ(best_hashes(10), 7U);  // not 6, as printed
    EXPECT_NEAR(false_positive_rate(10, 7), 0.008193722065862417, 1e-15);
    EXPECT_NEAR(false_positive_rate(10, 6), 0.008436209268438546, 1e-15);
    EXPECT_EQ(best_hashes(8), 6U);
    EXPECT_EQ(best_hashes(16), 11U);
    EXPECT_EQ(best_hashes(0.5), 1U);
    for (double bits = 1; bits < 40; bits += 0.37) {
        const auto best = best_hashes(bits);
        for (unsigned hashes = 1; hashes < 40; ++hashes) {
            EXPECT_LE(false_positive_rate(bits, best), false_positive_rate(bits, hashes));
        }
    }
}

TEST(BitsPerObject, IsTheInverseOfTheRate) {
    for (const double error : {0.1, 0.004, 0.0005, 1e-6}) {
        for (unsigned hashes = 1; hashes <= 10; ++hashes) {
            EXPECT_NEAR(false_positive_rate(bits_per_object(error, hashes), hashes) / error, 1,
                        1e-9);
        }
    }
}

TEST(Ladder, TakesTheFewestHashesThatFitIntoTwentyFourBits) {
    EXPECT_EQ(ladder_hashes(0.004), 4U);
    EXPECT_EQ(ladder_hashes(0.004 / 2), 4U);
    EXPECT_EQ(ladder_hashes(0.004 / 7), 4U);
    EXPECT_EQ(ladder_hashes(0.004 / 15), 5U);
    EXPECT_EQ(ladder_hashes(0.004 / 31), 6U);
    for (const double peers : {1, 2, 3, 7, 15, 31}) {
        const auto error = 0.004 / peers;
        EXPECT_LE(bits_per_object(error, ladder_hashes(error)), kMaxBitsPerObject) << peers;
    }
    EXPECT_EQ(ladder_hashes(0.004 / 63), 6U);  // 6 do not fit either: as many bits as it takes
    EXPECT_NEAR(bits_per_object(0.004 / 63, 6), 27, 0.5);
}

TEST(Ladder, HasFourSizesToAnOctave) {
    const double error = 0.002;
    const auto small = shape_for(10'000, error);
    const auto large = shape_for(20'000, error);
    EXPECT_EQ(large.bits, small.bits * 2);
    Shape previous = small;
    unsigned rungs = 0;
    for (std::uint64_t objects = 10'000; objects <= 20'000; objects += 10) {
        const auto shape = shape_for(objects, error);
        EXPECT_EQ(shape.bits % 64, 0U);
        EXPECT_EQ(shape.hashes, small.hashes);
        if (shape == previous) continue;
        ++rungs;
        EXPECT_NEAR(static_cast<double>(shape.bits) / static_cast<double>(previous.bits),
                    std::pow(2, 0.25), 0.001);
        previous = shape;
    }
    EXPECT_EQ(rungs, kRungsPerOctave);
}

TEST(Ladder, HasRoomForTheObjectsAskedForAndLittleMore) {
    for (const double error : {0.1, 0.004, 0.0005, 1e-6}) {
        for (std::uint64_t objects = kMinObjects; objects < 40'000'000; objects = objects * 5 / 3) {
            const auto shape = shape_for(objects, error);
            ASSERT_TRUE(is_valid(shape));
            EXPECT_LE(test::error_of(shape, static_cast<double>(objects)), error * 1.0001);
            EXPECT_GE(capacity(shape, error), objects);
            EXPECT_LE(capacity(shape, error), objects * 6 / 5);
        }
    }
}

TEST(Ladder, StaysWithinItsLimits) {
    EXPECT_EQ(shape_for(0, 0.002), shape_for(kMinObjects, 0.002));
    EXPECT_EQ(shape_for(~std::uint64_t{0}, 0.002).bits, kMaxBits);
    EXPECT_EQ(shape_for(5000, 0), shape_for(5000, kMinError));
    EXPECT_EQ(shape_for(5000, 1), shape_for(5000, kMaxError));
}

TEST(LoadFactor, GivesThePapersShapes) {
    EXPECT_EQ(shape_for_load_factor(1'000'000, 16, 4), (Shape{16'000'000, 4}));
    EXPECT_EQ(shape_for_load_factor(100, 8, 4), (Shape{832, 4}));  // whole words
    EXPECT_EQ(shape_for_load_factor(0, 32, 4), (Shape{64, 4}));
    EXPECT_TRUE(is_valid(shape_for_load_factor(~std::uint64_t{0}, 32, 4)));
}

}  // namespace sizing_test
}  // namespace summary
