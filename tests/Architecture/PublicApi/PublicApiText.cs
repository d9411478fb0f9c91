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
            lines.Add($"{KindOf(type)} {NameOf(type)}{BasesOf(type)}");
            lines.AddRange(MembersOf(type).Order(StringComparer.Ordinal).Select(member => "  " + member));
        }

        return lines;
    }

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

    private static IEnumerable<string> MembersOf(Type type)
    {
        if (type.IsEnum)
            return Enum.GetNames(type).Select(name =>
                $"{name} = {Convert.ToInt64(Enum.Parse(type, name), CultureInfo.InvariantCulture)}");
        if (typeof(Delegate).IsAssignableFrom(type))
            return [Signature(type.GetMethod("Invoke")!)]; // every delegate has one

        return type.GetConstructors(Declared).Where(made => IsVisible(made)).Select(made => $"new({Parameters(made)})")
            .Concat(
                type.GetFields(Declared)
                    .Where(field => field.IsPublic || field.IsFamily || field.IsFamilyOrAssembly)
                    .Select(Field))
            .Concat(type.GetProperties(Declared).Select(Property).OfType<string>())
            .Concat(
                type.GetEvents(Declared)
                    .Where(one => IsVisible(one.AddMethod))
                    .Select(one => $"event {NameOf(one.EventHandlerType!)} {one.Name}"))
            .Concat(type.GetMethods(Declared)
                .Where(
                    method => IsVisible(method)
                        && (!method.IsSpecialName || method.Name.StartsWith("op_", StringComparison.Ordinal)))
                .Where(method => !method.IsDefined(typeof(CompilerGeneratedAttribute)))
                .Select(Signature));
    }

    private static bool IsVisible(MethodBase? method) =>
        method is { IsPublic: true } or { IsFamily: true } or { IsFamilyOrAssembly: true };

    private static string Field(FieldInfo field) =>
        $"{(field.IsLiteral ? "const " : field.IsStatic ? "static " : "")}{NameOf(field.FieldType)} {field.Name}"
        + (field.IsLiteral ? " = " + Literal(field.GetRawConstantValue()) : "");

    private static string? Property(PropertyInfo property)
    {
        bool reads = IsVisible(property.GetMethod), writes = IsVisible(property.SetMethod);
        if (!reads && !writes)
            return null;
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
        return $"{modifier}{result} {method.Name}{generic}({Parameters(method)})";
    }

    private static string Parameters(MethodBase method) => string.Join(", ", method.GetParameters().Select(Parameter));

    private static string Parameter(ParameterInfo parameter)
    {
        string direction = parameter.IsOut ? "out " : parameter.IsIn ? "in " : parameter.ParameterType.IsByRef ? "ref " : "";
        string type = WithNullability(parameter.ParameterType, () => new NullabilityInfoContext().Create(parameter).WriteState);
        return $"{direction}{type} "
            + $"{parameter.Name}{(parameter.HasDefaultValue ? " = " + Literal(parameter.RawDefaultValue) : "")}";
    }

    private static string WithNullability(Type type, Func<NullabilityState> state) =>
        NameOf(type) + (!type.IsValueType && state() == NullabilityState.Nullable ? "?" : "");

    private static string Literal(object? value) => value switch
    {
        null => "null",
        string text => $"\"{text}\"",
        bool flag => flag ? "true" : "false",
        _ => Convert.ToString(value, CultureInfo.InvariantCulture) ?? "",
    };

    private static string NameOf(Type type)
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
