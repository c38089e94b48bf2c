#pragma once

#include <cassert>
#include <type_traits>
#include <typeinfo>

namespace proxy {

/// The object that has a setting as a member: the Config, an element of one of its lists, or a part
/// of such an element. The table has rows for objects of several types; as() asserts that this one
/// has the type of the row, which the tests run through for every row. It refers to the object and
/// keeps nothing alive. `Void` is `const void` for an object that is only read.
template <class Void>
class BasicObjectRef {
public:
    template <class T>
    requires(!requires { typename T::IsObjectRef; }) BasicObjectRef(T& object)
        : object_(&object), type_(&typeid(T)) {}
    BasicObjectRef(const BasicObjectRef<void>& other)
        : object_(other.object_), type_(other.type_) {}
    using IsObjectRef = void;

    template <class T>
    auto& as() const {
        assert(*type_ == typeid(T));
        return *static_cast<std::conditional_t<std::is_const_v<Void>, const T, T>*>(object_);
    }

private:
    friend class BasicObjectRef<const void>;
    Void* object_;
    [[maybe_unused]] const std::type_info* type_;
};
using ObjectRef = BasicObjectRef<void>;
using ConstObjectRef = BasicObjectRef<const void>;

}  // namespace proxy
