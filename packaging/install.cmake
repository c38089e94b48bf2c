# Installs the manual page, the systemd unit and bash completion; with HEARSAY_DEB also the files of a Debian package
# (./dev package).

set(HEARSAY_MANPAGE ${PROJECT_BINARY_DIR}/hearsay.1.gz)
add_custom_command(OUTPUT ${HEARSAY_MANPAGE}
    COMMAND ${CMAKE_CURRENT_LIST_DIR}/manpage.sh $<TARGET_FILE:hearsay> > hearsay.1
    COMMAND gzip -9nf hearsay.1
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR}
    DEPENDS hearsay ${CMAKE_CURRENT_LIST_DIR}/manpage.sh VERBATIM)
add_custom_target(manpage ALL DEPENDS ${HEARSAY_MANPAGE})
configure_file(${CMAKE_CURRENT_LIST_DIR}/hearsay.service.in ${PROJECT_BINARY_DIR}/hearsay.service @ONLY)

install(FILES ${HEARSAY_MANPAGE} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL)  # missing if only the program was built
install(FILES ${PROJECT_BINARY_DIR}/hearsay.service DESTINATION lib/systemd/system)  # not LIBDIR: systemd looks there only
install(FILES ${CMAKE_CURRENT_LIST_DIR}/bash-completion
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME hearsay)

option(HEARSAY_DEB "Make `cpack` write a Debian package; wants CMAKE_INSTALL_PREFIX /usr" OFF)
if(NOT HEARSAY_DEB)
    return()
endif()

set(deb_files ${CMAKE_CURRENT_LIST_DIR}/debian)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/hearsay.json DESTINATION ${CMAKE_INSTALL_FULL_SYSCONFDIR}/hearsay)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/environment DESTINATION ${CMAKE_INSTALL_FULL_SYSCONFDIR}/hearsay
    PERMISSIONS OWNER_READ OWNER_WRITE)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/logrotate DESTINATION ${CMAKE_INSTALL_FULL_SYSCONFDIR}/logrotate.d RENAME hearsay)
install(FILES ${deb_files}/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${deb_files}/lintian-overrides DESTINATION ${CMAKE_INSTALL_DATADIR}/lintian/overrides RENAME hearsay)
# The environment names the maintainer, as for Debian's own tools.
set(deb_name "hearsay")
if(DEFINED ENV{DEBFULLNAME})
    set(deb_name "$ENV{DEBFULLNAME}")
endif()
set(deb_address "root@localhost")
if(DEFINED ENV{DEBEMAIL})
    set(deb_address "$ENV{DEBEMAIL}")
endif()
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${deb_name} <${deb_address}>")
set(changelog ${PROJECT_BINARY_DIR}/changelog.gz)
configure_file(${deb_files}/changelog.in ${PROJECT_BINARY_DIR}/changelog @ONLY)
add_custom_command(OUTPUT ${changelog} COMMAND gzip -9nkf ${PROJECT_BINARY_DIR}/changelog
    DEPENDS ${PROJECT_BINARY_DIR}/changelog VERBATIM)
add_custom_target(debian_changelog ALL DEPENDS ${changelog})
install(FILES ${changelog} DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME hearsay)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR})
set(CPACK_SET_DESTDIR ON)  # includes the files below /etc
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "HTTP caches that share their content")
set(CPACK_PACKAGE_DESCRIPTION "A caching HTTP proxy for clusters. Every node keeps a summary of its
store (a counting Bloom filter by default) and announces each change to its
peers; a local miss goes to the peer whose summary contains the URL, otherwise
to the origin.")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION web)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "adduser, init-system-helpers (>= 1.54~)")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "logrotate")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${deb_files}/postinst ${deb_files}/prerm ${deb_files}/postrm ${deb_files}/conffiles)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
