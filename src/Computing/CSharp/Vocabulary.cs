using System.Collections.Frozen;
using System.Reflection;

namespace Treepie.Computing.CSharp;

/// <summary>
/// The functions that source code may call: methods of values, static functions of types, and functions of indexes; nothing
/// else can be called. A function is identified by its name and the form of its arguments: <c>v</c> for a value, the number
/// of parameters for a lambda.
/// </summary>
internal static class Vocabulary
{
    /// <summary>Methods called on a value.</summary>
    public static FrozenDictionary<string, MethodInfo> Methods { get; } = Words(typeof(SequenceMethods), typeof(TextMethods));

    /// <summary>Functions called without a receiver.</summary>
    public static FrozenDictionary<string, MethodInfo> Functions { get; } = Words(typeof(IndexFunctions));

    /// <summary>Static functions of a type: <c>Math_Round</c>.</summary>
    public static FrozenDictionary<string, MethodInfo> Statics { get; } = Words(typeof(StaticMethods));

    /// <summary>Returns the key of a function: its name with the form of its arguments.</summary>
    public static string Key(string name, string form) => $"{name}({form})";

    /// <summary>Returns all names, for messages.</summary>
    public static string Names(FrozenDictionary<string, MethodInfo> words) =>
        string.Join(
            ", ",
            words.Keys.Select(static key => key[..key.IndexOf('(')].Replace('_', '.')).Distinct().Order(StringComparer.Ordinal));

    private static FrozenDictionary<string, MethodInfo> Words(params Type[] types)
    {
        var words = new Dictionary<string, MethodInfo>(StringComparer.Ordinal);
        foreach (MethodInfo method in types.SelectMany(
            static type => type.GetMethods(BindingFlags.Public | BindingFlags.Static | BindingFlags.DeclaredOnly)))
            words.Add(
                Key(
                    method.Name,
                    string.Concat(method.GetParameters().Skip(1).Select(static parameter => Form(parameter.ParameterType)))),
                method);
        return words.ToFrozenDictionary();
    }

    private static string Form(Type parameter) =>
        parameter.IsGenericType
            ? (parameter.GetGenericArguments().Length - 1).ToString(System.Globalization.CultureInfo.InvariantCulture)
            : "v";
}
