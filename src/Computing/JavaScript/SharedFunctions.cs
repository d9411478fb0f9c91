using System.Globalization;
using System.Text;
using System.Text.RegularExpressions;
using Jint;
using Jint.Native;
using Jint.Native.Object;
using Jint.Runtime;
using Jint.Runtime.Descriptors;
using Jint.Runtime.Interop;
using Treepie.Indexing.Spatial;

namespace Treepie.Computing.JavaScript;

/// <summary>
/// Functions available to all scripts, in patches, queries and indexes. Their results depend on their arguments only.
/// </summary>
internal static class SharedFunctions
{
    /// <summary>Defines the functions in an engine.</summary>
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
        Define(engine, "attachmentsFor", 1, arguments => NamesIn(engine, arguments.At(0), "@attachments"));
        Define(engine, "counterNamesFor", 1, arguments => NamesIn(engine, arguments.At(0), "@counters"));
        Define(engine, "timeSeriesNamesFor", 1, arguments => NamesIn(engine, arguments.At(0), "@timeseries"));
        Define(engine, "convertJsTimeToTimeSpanString", 1, static arguments => new JsString(TimeSpanText(arguments.At(0))));
        Define(engine, "Raven_Min", 2, static arguments => Extreme(arguments, isMax: false));
        Define(engine, "Raven_Max", 2, static arguments => Extreme(arguments, isMax: true));
        var texts = (ObjectInstance)((ObjectInstance)engine.GetValue("String")).Get("prototype");
        texts.FastSetProperty(
            "format",
            new PropertyDescriptor(
                new ClrFunction(engine, "format", (self, arguments) => Format(self, arguments, limits.MaxLength), 1),
                writable: true, enumerable: false, configurable: true));
        var spatial = new JsObject(engine);
        spatial.Set("distance", new ClrFunction(engine, "distance", static (_, arguments) => Distance(arguments), 5));
        engine.SetValue("spatial", spatial);
    }

    /// <summary>Returns the id of a document; null if it has none.</summary>
    public static JsValue IdOf(JsValue document) =>
        document is ObjectInstance made && made.Get("@metadata") is ObjectInstance metadata && metadata.Get("@id") is JsString id
            ? id
            : JsValue.Null;

    /// <summary>Returns an argument that must be a string.</summary>
    /// <exception cref="ScriptException">The argument is not a string.</exception>
    public static string Text(JsValue value, string function, string what) =>
        value is JsString text
            ? text.ToString()
            : throw new ScriptException($"'{function}' wants {what} as a string, and is given {value.Type}.");

    /// <summary>
    /// Returns the least or greatest of numbers, or of texts in the order of their characters: arguments, or elements of arrays
    /// that are arguments. Null and missing values are passed over; null if there is nothing else.
    /// </summary>
    private static JsValue Extreme(JsValue[] arguments, bool isMax)
    {
        JsValue? found = null;
        foreach (JsValue argument in arguments)
            if (argument is JsArray array)
                foreach (JsValue element in array)
                    Take(element);
            else
                Take(argument);
        return found ?? JsValue.Null;

        void Take(JsValue value)
        {
            if (value.IsNull() || value.IsUndefined())
                return;
            int order = (value, found) switch
            {
                (_, null) => 0,
                (JsString text, JsString other) => string.CompareOrdinal(text.ToString(), other.ToString()),
                _ => TypeConverter.ToNumber(value).CompareTo(TypeConverter.ToNumber(found)),
            };
            if (found is null || (isMax ? order > 0 : order < 0))
                found = value;
        }
    }

    /// <summary>Replaces <c>{0}</c>, <c>{1}</c>, … in a text by arguments; what is null or missing is nothing.</summary>
    /// <exception cref="ScriptException">The result would be too long.</exception>
    private static JsString Format(JsValue self, JsValue[] arguments, int mostCharacters)
    {
        string pattern = Text(self, "format", "what it is called on");
        var text = new StringBuilder();
        for (int at = 0; at < pattern.Length;)
        {
            int end = at + 1;
            while (pattern[at] == '{' && end < pattern.Length && char.IsAsciiDigit(pattern[end]))
                end++;
            if (end > at + 1
                && end < pattern.Length
                && pattern[end] == '}'
                && int.TryParse(
                    pattern.AsSpan(at + 1, end - at - 1), NumberStyles.None, CultureInfo.InvariantCulture, out int place)
                && place < arguments.Length)
            {
                JsValue value = arguments[place];
                text.Append(value.IsNull() || value.IsUndefined() ? "" : TypeConverter.ToString(value));
                at = end + 1;
            }
            else
            {
                text.Append(pattern[at++]);
            }

            if (text.Length > mostCharacters)
                throw new ScriptException($"'format' would make a text of more than {mostCharacters:N0} characters.");
        }

        return new JsString(text.ToString());
    }

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

    /// <summary>Returns an array in the metadata of a document; an empty one if there is none.</summary>
    private static JsArray NamesIn(Engine engine, JsValue document, string key) =>
        document is ObjectInstance made && made.Get("@metadata") is ObjectInstance metadata && metadata.Get(key) is JsArray names
            ? names
            : new JsArray(engine, 0);

    /// <exception cref="ScriptException">The value is not a number of milliseconds in the range of a time span.</exception>
    private static string TimeSpanText(JsValue value) =>
        value is JsNumber && Math.Abs(value.AsNumber()) < TimeSpan.MaxValue.TotalMilliseconds
            ? TimeSpan.FromMilliseconds(value.AsNumber()).ToString("c", CultureInfo.InvariantCulture)
            : throw new ScriptException(
                "'convertJsTimeToTimeSpanString' wants a number of milliseconds: convertJsTimeToTimeSpanString(end - start).");

    /// <summary>Returns the distance along the surface of a sphere; null if a coordinate is not a number.</summary>
    /// <exception cref="ScriptException">The unit is unknown.</exception>
    private static JsValue Distance(JsValue[] arguments)
    {
        double perUnit = arguments.At(4).IsUndefined()
            ? 1
            : arguments.At(4).ToString().ToUpperInvariant() switch
            {
                "KILOMETERS" => 1,
                "MILES" => Earth.KmPerMile,
                _ => throw new ScriptException(
                    "'spatial.distance' measures in 'kilometers' or 'miles': spatial.distance(lat, lng, lat, lng, 'miles')."),
            };
        for (int i = 0; i < 4; i++)
            if (arguments.At(i) is not JsNumber)
                return JsValue.Null;
        return new JsNumber(Earth.DistanceKm(Place(0), Place(2)) / perUnit);

        GeoPoint Place(int at) => new(arguments.At(at).AsNumber(), arguments.At(at + 1).AsNumber());
    }

    private static JsBoolean Bool(bool value) => value ? JsBoolean.True : JsBoolean.False;
}
