using System.Globalization;
using System.Text.RegularExpressions;
using Jint;
using Jint.Native;
using Jint.Native.Object;
using Jint.Runtime;
using Jint.Runtime.Interop;
using Treepie.Computations;

namespace Treepie.Computing.JavaScript;

/// <summary>Functions that all scripts have: of patches, queries and indexes. They depend on their arguments alone.</summary>
internal static class SharedFunctions
{
    /// <summary>Puts the functions into an engine.</summary>
    public static void Put(Engine engine, ScriptLimits limits)
    {
        Define(engine, "id", 1, static arguments => IdOf(arguments.At(0)));
        Define(
            engine, "getMetadata", 1,
            static arguments => arguments.At(0) is ObjectInstance document ? document.Get("@metadata") : JsValue.Undefined);
        Define(engine, "lastModified", 1, arguments => LastModified(engine, arguments.At(0)));
        Define(
            engine, "startsWith", 2,
            static arguments => Bool(
                arguments.At(0) is JsString text
                    && text.ToString().StartsWith(arguments.At(1).ToString(), StringComparison.Ordinal)));
        Define(
            engine, "endsWith", 2,
            static arguments => Bool(
                arguments.At(0) is JsString text
                    && text.ToString().EndsWith(arguments.At(1).ToString(), StringComparison.Ordinal)));
        Define(engine, "regex", 2, arguments => Bool(arguments.At(0) is JsString text
            && Regex.IsMatch(
                text.ToString(), Text(arguments.At(1), "regex", "the pattern"), RegexOptions.None, limits.MaxRegexTime)));
    }

    /// <summary>The id of a document; null where it has none.</summary>
    public static JsValue IdOf(JsValue document) =>
        document is ObjectInstance made && made.Get("@metadata") is ObjectInstance metadata && metadata.Get("@id") is JsString id
            ? id
            : JsValue.Null;

    /// <summary>An argument that is a string.</summary>
    /// <exception cref="ScriptException">It is none.</exception>
    public static string Text(JsValue value, string function, string what) =>
        value is JsString text
            ? text.ToString()
            : throw new ScriptException($"'{function}' wants {what} as a string, and is given {value.Type}.");

    private static void Define(Engine engine, string name, int parameters, Func<JsValue[], JsValue> function) =>
        engine.SetValue(name, new ClrFunction(engine, name, (_, arguments) => function(arguments), parameters));

    private static JsValue LastModified(Engine engine, JsValue document) =>
        document is ObjectInstance made
            && made.Get("@metadata") is ObjectInstance metadata
            && metadata.Get("@last-modified") is JsString text
            && DateTime.TryParse(
                text.ToString(), CultureInfo.InvariantCulture, DateTimeStyles.AdjustToUniversal | DateTimeStyles.AssumeUniversal,
                out DateTime time)
            ? new JsDate(engine, time)
            : JsValue.Null;

    private static JsBoolean Bool(bool value) => value ? JsBoolean.True : JsBoolean.False;
}
