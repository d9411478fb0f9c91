using System.Reflection;

namespace Treepie.Architecture.Tests.PublicApi;

/// <summary>
/// Names by which the compiler's XML files know types and members: <c>M:Treepie.Database.Open(System.String)</c>
/// (C# specification, annex D.4.2).
/// </summary>
internal static class DocumentationIds
{
    public static string Of(MemberInfo member) => member switch
    {
        Type type => $"T:{NameOf(type)}",
        ConstructorInfo made => $"M:{OwnerOf(made)}.#ctor{Parameters(made.GetParameters())}",
        MethodInfo method => $"M:{OwnerOf(method)}.{method.Name}{Arity(method)}{Parameters(method.GetParameters())}"
            + (method.Name is "op_Implicit" or "op_Explicit" ? $"~{Parameter(method.ReturnType)}" : ""),
        PropertyInfo property => $"P:{OwnerOf(property)}.{property.Name}{Parameters(property.GetIndexParameters())}",
        FieldInfo field => $"F:{OwnerOf(field)}.{field.Name}",
        _ => $"E:{OwnerOf(member)}.{member.Name}",
    };

    private static string OwnerOf(MemberInfo member) => NameOf(member.DeclaringType!); // the members asked for have one

    private static string NameOf(Type type)
    {
        Type own = type.IsGenericType ? type.GetGenericTypeDefinition() : type;
        return (own.FullName ?? own.Name).Replace('+', '.');
    }

    private static string Arity(MethodInfo method) =>
        method.IsGenericMethodDefinition ? $"``{method.GetGenericArguments().Length}" : "";

    private static string Parameters(ParameterInfo[] parameters) => parameters.Length == 0
        ? ""
        : $"({string.Join(',', parameters.Select(parameter => Parameter(parameter.ParameterType)))})";

    private static string Parameter(Type type)
    {
        if (type.IsByRef)
            return Parameter(type.GetElementType()!) + "@"; // a reference is to something
        if (type.IsArray)
            return Parameter(type.GetElementType()!) + "[]"; // an array is of something
        if (type.IsPointer)
            return Parameter(type.GetElementType()!) + "*"; // so is a pointer
        if (type.IsGenericParameter)
            return (type.DeclaringMethod is null ? "`" : "``") + type.GenericParameterPosition;
        if (!type.IsGenericType)
            return NameOf(type);
        string name = NameOf(type);
        int arity = name.IndexOf('`', StringComparison.Ordinal); // of a nested type in a generic one there are none here
        return $"{name[..arity]}{{{string.Join(',', type.GetGenericArguments().Select(Parameter))}}}";
    }
}
