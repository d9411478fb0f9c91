using System.Globalization;
using System.Reflection;
using System.Runtime.CompilerServices;

namespace Treepie.Architecture.Tests.PublicApi;

/// <summary>
/// What others may use of an assembly, a line for each type and member, in an order that does not depend on the compiler.
/// </summary>
internal static class PublicApiText
{
    private const BindingFlags Declared =
        BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance | BindingFlags.Static | BindingFlags.DeclaredOnly;

    /// <summary>The lines of an assembly.</summary>
    public static IReadOnlyList<string> Of(Assembly assembly)
    {
        var lines = new List<string>();
        foreach (Type type in assembly.GetTypes().Where(IsVisible).OrderBy(NameOf, StringComparer.Ordinal))
        {
            lines.Add(Heading(type));
            lines.AddRange(MembersOf(type).Select(member => "  " + member.Text).Order(StringComparer.Ordinal));
        }

        return lines;
    }

    /// <summary>The types of an assembly that others may use.</summary>
    public static IEnumerable<Type> TypesOf(Assembly assembly) => assembly.GetTypes().Where(IsVisible);

    /// <summary>A type with its kind and its bases.</summary>
    public static string Heading(Type type) => $"{KindOf(type)} {NameOf(type)}{BasesOf(type)}";

    private static bool IsVisible(Type type) =>
        (type.IsPublic || ((type.IsNestedPublic || type.IsNestedFamily) && IsVisible(type.DeclaringType!))) // a nested type has one
        && !type.Name.Contains('<', StringComparison.Ordinal) // what the compiler adds for blocks of extensions
        && !type.IsDefined(typeof(CompilerGeneratedAttribute));

    private static string KindOf(Type type) => type switch
    {
        { IsEnum: true } => "enum",
        { IsInterface: true } => "interface",
        { IsByRefLike: true } => "ref struct",
        { IsValueType: true } => "struct",
        _ when typeof(Delegate).IsAssignableFrom(type) => "delegate",
        { IsAbstract: true, IsSealed: true } => "static class",
        { IsAbstract: true } => "abstract class",
        { IsSealed: true } => "sealed class",
        _ => "class",
    };

    private static string BasesOf(Type type)
    {
        if (type.IsEnum || typeof(Delegate).IsAssignableFrom(type))
            return "";
        IEnumerable<Type> own = type.GetInterfaces()
            .Where(one => one.IsVisible && type.BaseType?.GetInterfaces().Contains(one) != true);
        Type? above = type.BaseType is { } one && one != typeof(object) && one != typeof(ValueType) ? one : null;
        string[] bases = [.. above is null ? [] : (string[])[NameOf(above)], .. own.Select(NameOf).Order(StringComparer.Ordinal)];
        return bases.Length == 0 ? "" : " : " + string.Join(", ", bases);
    }

    /// <summary>The members of a type that others may use, each with its line.</summary>
    public static IEnumerable<(MemberInfo Member, string Text)> MembersOf(Type type)
    {
        if (type.IsEnum)
            return Enum.GetNames(type).Select(name => (
                (MemberInfo)type.GetField(name)!, // an enumeration has a field for each name
                $"{name} = {Convert.ToInt64(Enum.Parse(type, name), CultureInfo.InvariantCulture)}"));
        if (typeof(Delegate).IsAssignableFrom(type))
            return type.GetMethod("Invoke") is { } call ? [(call, Signature(call))] : [];

        return type.GetConstructors(Declared).Where(made => IsVisible(made))
            .Select(made => ((MemberInfo)made, $"new({Parameters(made)})"))
            .Concat(
                type.GetFields(Declared)
                    .Where(field => field.IsPublic || field.IsFamily || field.IsFamilyOrAssembly)
                    .Select(field => ((MemberInfo)field, Field(field))))
            .Concat(type.GetProperties(Declared)
                .Where(property => IsVisible(property.GetMethod) || IsVisible(property.SetMethod))
                .Select(property => ((MemberInfo)property, Property(property))))
            .Concat(
                type.GetEvents(Declared)
                    .Where(one => IsVisible(one.AddMethod))
                    .Select(one => ((MemberInfo)one, $"event {NameOf(one.EventHandlerType!)} {one.Name}")))
            .Concat(type.GetMethods(Declared)
                .Where(
                    method => IsVisible(method)
                        && (!method.IsSpecialName || method.Name.StartsWith("op_", StringComparison.Ordinal)))
                .Where(method => !method.IsDefined(typeof(CompilerGeneratedAttribute)))
                .Select(method => ((MemberInfo)method, Signature(method))));
    }

    private static bool IsVisible(MethodBase? method) =>
        method is { IsPublic: true } or { IsFamily: true } or { IsFamilyOrAssembly: true };

    private static string Field(FieldInfo field) =>
        $"{(field.IsLiteral ? "const " : field.IsStatic ? "static " : "")}{NameOf(field.FieldType)} {field.Name}"
        + (field.IsLiteral ? " = " + Literal(field.GetRawConstantValue()) : "");

    private static string Property(PropertyInfo property)
    {
        bool reads = IsVisible(property.GetMethod), writes = IsVisible(property.SetMethod);
        // writes: there is one
        bool isInit = writes && property.SetMethod!.ReturnParameter.GetRequiredCustomModifiers().Contains(typeof(IsExternalInit));
        bool isStatic = (property.GetMethod ?? property.SetMethod)!.IsStatic; // a property has one of them
        string required = property.IsDefined(typeof(RequiredMemberAttribute)) ? "required " : "";
        string index = property.GetIndexParameters() is { Length: > 0 } by ? $"[{string.Join(", ", by.Select(Parameter))}]" : "";
        string type = WithNullability(property.PropertyType, () => new NullabilityInfoContext().Create(property).ReadState);
        return $"{(isStatic ? "static " : "")}{required}{type} {property.Name}{index} {{ "
            + $"{(reads ? "get; " : "")}{(isInit ? "init; " : writes ? "set; " : "")}}}";
    }

    private static string Signature(MethodInfo method)
    {
        string modifier = method.IsStatic
            ? "static "
            : method.IsAbstract ? "abstract " : method is { IsVirtual: true, IsFinal: false } ? "virtual " : "";
        string generic = method.IsGenericMethodDefinition
            ? $"<{string.Join(", ", method.GetGenericArguments().Select(NameOf))}>"
            : "";
        string result = WithNullability(
            method.ReturnType, () => new NullabilityInfoContext().Create(method.ReturnParameter).ReadState);
        string extended = method.IsDefined(typeof(ExtensionAttribute)) ? "this " : "";
        return $"{modifier}{result} {method.Name}{generic}({extended}{Parameters(method)})";
    }

    private static string Parameters(MethodBase method) => string.Join(", ", method.GetParameters().Select(Parameter));

    private static string Parameter(ParameterInfo parameter)
    {
        string direction = parameter.IsOut ? "out " : parameter.IsIn ? "in " : parameter.ParameterType.IsByRef ? "ref " : "";
        string type = WithNullability(parameter.ParameterType, () => new NullabilityInfoContext().Create(parameter).WriteState);
        return $"{direction}{type} "
            + $"{parameter.Name}{(parameter.HasDefaultValue ? " = " + Default(parameter) : "")}";
    }

    private static string WithNullability(Type type, Func<NullabilityState> state) =>
        NameOf(type) + (!type.IsValueType && state() == NullabilityState.Nullable ? "?" : "");

    private static string Default(ParameterInfo parameter) =>
        parameter.RawDefaultValue is null && parameter.ParameterType.IsValueType
            && Nullable.GetUnderlyingType(parameter.ParameterType) is null
            ? "default"
            : Literal(parameter.RawDefaultValue);

    private static string Literal(object? value) => value switch
    {
        null => "null",
        string text => $"\"{text}\"",
        bool flag => flag ? "true" : "false",
        _ => Convert.ToString(value, CultureInfo.InvariantCulture) ?? "",
    };

    /// <summary>The name of a type, with its namespace unless that is of the framework.</summary>
    public static string NameOf(Type type)
    {
        if (type.IsByRef)
            return NameOf(type.GetElementType()!); // a reference is to something
        if (type.IsArray)
            return NameOf(type.GetElementType()!) + "[]"; // an array is of something
        if (type.IsGenericParameter)
            return type.Name;
        if (Nullable.GetUnderlyingType(type) is { } inner)
            return NameOf(inner) + "?";

        string name = type.FullName is null || type.IsGenericType
            ? $"{type.Namespace}.{Nested(type)}"
            : type.FullName.Replace('+', '.');
        name = name.StartsWith("System.", StringComparison.Ordinal) ? type.Name : name;
        return type.IsGenericType
            ? $"{name.Split('`')[0]}<{string.Join(", ", type.GetGenericArguments().Select(NameOf))}>"
            : name;
    }

    private static string Nested(Type type) => type.DeclaringType is { } outer ? $"{outer.Name}.{type.Name}" : type.Name;
}
