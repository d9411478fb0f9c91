using System.Collections.Frozen;
using System.Reflection;

namespace Treepie.Computing.CSharp;

/// <summary>
/// The words that a text may call, and nothing else: methods of values, functions of types, and functions of indexes. A word is
/// found by its name and the form of its arguments: <c>v</c> for a value, the number of parameters for a lambda.
/// </summary>
internal static class Vocabulary
{
    /// <summary>Methods called on a value.</summary>
    public static FrozenDictionary<string, MethodInfo> Methods { get; } = Words(typeof(SequenceMethods), typeof(TextMethods));

    /// <summary>Functions called by their name alone.</summary>
    public static FrozenDictionary<string, MethodInfo> Functions { get; } = Words(typeof(IndexFunctions));

    /// <summary>Functions of a type: <c>Math_Round</c>.</summary>
    public static FrozenDictionary<string, MethodInfo> Statics { get; } = Words(typeof(StaticMethods));

    /// <summary>The name of a word with the form of its arguments.</summary>
    public static string Key(string name, string form) => $"{name}({form})";

    /// <summary>The forms there are of a name, for messages.</summary>
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
