using System.Globalization;
using System.Text.Json;
using Jint;
using Jint.Native;
using Jint.Native.Object;
using Jint.Runtime;
using Jint.Runtime.Interop;
using Treepie.Computations;

namespace Treepie.Computing.JavaScript;

/// <summary>
/// The functions that scripts have beside those of the language, and guards around those of the language that make something long
/// at once.
/// </summary>
internal sealed class ScriptFunctions
{
    private readonly Engine _engine;
    private readonly ScriptLimits _limits;
    private IScriptHost? _host;

    public ScriptFunctions(Engine engine, ScriptLimits limits)
    {
        (_engine, _limits) = (engine, limits);
        Define("id", 1, static (self, arguments) => IdOf(arguments.At(0)));
        Define(
            "getMetadata", 1,
            static (_, arguments) => arguments.At(0) is ObjectInstance document ? document.Get("@metadata") : JsValue.Undefined);
        Define("lastModified", 1, (_, arguments) => LastModified(arguments.At(0)));
        Define("load", 1, (_, arguments) => Load(arguments.At(0)));
        Define("cmpxchg", 1, (_, arguments) => Parse(Host.CompareExchange(Text(arguments.At(0), "cmpxchg", "the key"))));
        Define("counter", 2, (_, arguments) =>
            Host.Counter(IdText(arguments.At(0), "counter"), Text(arguments.At(1), "counter", "the counter's name")) is { } sum
                ? new JsNumber((double)sum)
                : JsValue.Null);
        Define("put", 2, (_, arguments) => Put(arguments));
        Define("del", 1, (_, arguments) => Delete(arguments));
        Define("incrementCounter", 3, (_, arguments) => IncrementCounter(arguments));
        Define("deleteCounter", 2, (_, arguments) => DeleteCounter(arguments));
        Define("output", 1, (_, arguments) => Write(arguments));
        Define(
            "startsWith", 2,
            static (_, arguments) => Bool(
                arguments.At(0) is JsString text
                    && text.ToString().StartsWith(arguments.At(1).ToString(), StringComparison.Ordinal)));
        Define(
            "endsWith", 2,
            static (_, arguments) => Bool(
                arguments.At(0) is JsString text
                    && text.ToString().EndsWith(arguments.At(1).ToString(), StringComparison.Ordinal)));
        Define("regex", 2, (_, arguments) => Bool(arguments.At(0) is JsString text
            && System.Text.RegularExpressions.Regex.IsMatch(
                text.ToString(), Text(arguments.At(1), "regex", "the pattern"), System.Text.RegularExpressions.RegexOptions.None,
                limits.MaxRegexTime)));
        var console = new JsObject(engine);
        console.Set("log", new ClrFunction(engine, "log", (_, arguments) => Write(arguments), 1));
        engine.SetValue("console", console);
        Guard("String.prototype.repeat", static (self, arguments) => Length(self) * Number(arguments.At(0)));
        Guard("String.prototype.padStart", static (_, arguments) => Number(arguments.At(0)));
        Guard("String.prototype.padEnd", static (_, arguments) => Number(arguments.At(0)));
        Guard("String.prototype.concat", static (self, arguments) => Length(self) + arguments.Sum(Length));
        Guard("String.prototype.replace", static (self, arguments) => ReplacedLength(self, arguments, isAll: false));
        Guard("String.prototype.replaceAll", static (self, arguments) => ReplacedLength(self, arguments, isAll: true));
        Guard("Array.prototype.toLocaleString", static (self, _) => JoinLength(self, JsValue.Undefined));
        Guard(
            "Array.from",
            static (_, arguments) => arguments.At(0) is ObjectInstance source and not JsArray ? Number(source.Get("length")) : 0);
        Guard(
            "JSON.stringify",
            (_, arguments) => TextLength(arguments.At(0), limits.MaxLength, 0) * (arguments.At(2).IsUndefined() ? 1 : 2));
        Guard("Array.prototype.join", static (self, arguments) => JoinLength(self, arguments.At(0)));
        Guard("Array.prototype.fill", static (self, _) => ItemsOf(self));
        Guard("Array.prototype.concat", static (self, arguments) => ItemsOf(self) + arguments.Sum(ItemsOf));
    }

    private IScriptHost Host => _host ?? throw new InvalidOperationException("A script runs for a host.");

    public void Begin(IScriptHost host) => _host = host;

    public void End() => _host = null;

    private void Define(string name, int parameters, Func<JsValue, JsValue[], JsValue> function) =>
        _engine.SetValue(name, new ClrFunction(_engine, name, function, parameters));

    /// <summary>Puts a look at the length of what it will make before a function of the language.</summary>
    private void Guard(string path, Func<JsValue, JsValue[], double> length)
    {
        string[] parts = path.Split('.');
        var owner = (ObjectInstance)_engine.GetValue(parts[0]);
        if (parts.Length == 3)
            owner = (ObjectInstance)owner.Get(parts[1]);
        string name = parts[^1];
        JsValue original = owner.Get(name);
        owner.Set(name, new ClrFunction(_engine, name, (self, arguments) =>
        {
            double wanted = length(self, arguments);
            if (wanted > _limits.MaxLength)
                throw new ScriptException(
                    $"'{name}' would make something of {wanted:N0} parts; {_limits.MaxLength:N0} are the most.");
            return _engine.Call(original, self, arguments);
        }, 1));
    }

    private JsValue Load(JsValue what)
    {
        if (what is JsArray many)
        {
            var found = new JsValue[many.Length];
            for (uint i = 0; i < many.Length; i++)
                found[i] = Load(many[i]);
            return new JsArray(_engine, found);
        }

        return what.IsNull() || what.IsUndefined() ? JsValue.Null : Parse(Host.Load(Text(what, "load", "the id")));
    }

    private JsString Put(JsValue[] arguments)
    {
        string id = arguments.At(0).IsNull() || arguments.At(0).IsUndefined() ? "" : Text(arguments.At(0), "put", "the id");
        if (arguments.At(1) is not ObjectInstance document || document is JsArray)
            throw new ScriptException($"'put' of '{id}' is given no object as its second argument: put(id, document).");
        var json = new System.Buffers.ArrayBufferWriter<byte>();
        ScriptJson.Write(document, default, json, int.MaxValue);
        return new JsString(Host.Put(id, json.WrittenMemory, arguments.At(2) is JsString expected ? expected.ToString() : null));
    }

    private JsValue Delete(JsValue[] arguments)
    {
        Host.Delete(IdText(arguments.At(0), "del"), arguments.At(1) is JsString expected ? expected.ToString() : null);
        return JsValue.Undefined;
    }

    private JsValue IncrementCounter(JsValue[] arguments)
    {
        double delta = arguments.At(2).IsUndefined() ? 1 : arguments.At(2) is JsNumber ? arguments.At(2).AsNumber() : double.NaN;
        if (!(Math.Abs(delta) <= 1L << 53) || !Math.Floor(delta).Equals(delta))
            throw new ScriptException("'incrementCounter' adds a whole number up to 2^53: incrementCounter(document, name, 1).");
        Host.IncrementCounter(
            IdText(arguments.At(0), "incrementCounter"), Text(arguments.At(1), "incrementCounter", "the counter's name"),
            (long)delta);
        return JsValue.Undefined;
    }

    private JsValue DeleteCounter(JsValue[] arguments)
    {
        Host.DeleteCounter(
            IdText(arguments.At(0), "deleteCounter"), Text(arguments.At(1), "deleteCounter", "the counter's name"));
        return JsValue.Undefined;
    }

    private JsValue Write(JsValue[] arguments)
    {
        foreach (JsValue argument in arguments)
            Host.Write(
                argument is JsString
                    ? argument.ToString()
                    : _engine.Call(((ObjectInstance)_engine.GetValue("JSON")).Get("stringify"), [argument]).ToString());
        return JsValue.Undefined;
    }

    private static JsValue IdOf(JsValue document) =>
        document is ObjectInstance made && made.Get("@metadata") is ObjectInstance metadata && metadata.Get("@id") is JsString id
            ? id
            : JsValue.Null;

    private JsValue LastModified(JsValue document) =>
        document is ObjectInstance made
            && made.Get("@metadata") is ObjectInstance metadata
            && metadata.Get("@last-modified") is JsString text
            && DateTime.TryParse(
                text.ToString(), CultureInfo.InvariantCulture, DateTimeStyles.AdjustToUniversal | DateTimeStyles.AssumeUniversal,
                out DateTime time)
            ? new JsDate(_engine, time)
            : JsValue.Null;

    private JsValue Parse(byte[]? json)
    {
        if (json is null)
            return JsValue.Null;
        using var document = JsonDocument.Parse(json, new JsonDocumentOptions { MaxDepth = 1_024 });
        return ScriptJson.Read(_engine, document.RootElement);
    }

    /// <summary>An id, or that of a document.</summary>
    private static string IdText(JsValue value, string function) =>
        (value is JsString ? value : IdOf(value)) is JsString id
            ? id.ToString()
            : throw new ScriptException($"'{function}' is given neither an id nor a document.");

    private static string Text(JsValue value, string function, string what) =>
        value is JsString text
            ? text.ToString()
            : throw new ScriptException($"'{function}' wants {what} as a string, and is given {value.Type}.");

    private static JsBoolean Bool(bool value) => value ? JsBoolean.True : JsBoolean.False;

    private static double Number(JsValue value) => value is JsNumber ? value.AsNumber() : 0;

    private static double Length(JsValue value) => value is JsString text ? text.Length : 0;

    private static double ItemsOf(JsValue value) => value is JsArray array ? array.Length : 1;

    /// <summary>
    /// The most that replacing gives: of a text as many places as it has, of a regular expression a sixteenth of all there may
    /// be.
    /// </summary>
    private static double ReplacedLength(JsValue self, JsValue[] arguments, bool isAll)
    {
        if (self is not JsString text || arguments.At(1) is not JsString replacement)
            return 0;
        double length = text.Length, each = replacement.Length;
        if (replacement.ToString().Contains('$', StringComparison.Ordinal))
            each *= length + 1; // each $' may stand for all that follows
        if (arguments.At(0) is not JsString part)
            return length + (length * each / 16);
        double places = !isAll ? 1 : part.Length == 0 ? length + 1 : text.ToString().AsSpan().Count(part.ToString());
        return length + (places * each);
    }

    /// <summary>The least that a value takes as JSON; what is behind getters is not looked at.</summary>
    private static double TextLength(JsValue value, double most, int depth)
    {
        if (value is JsString)
            return Length(value);
        if (value is not ObjectInstance made || depth > ScriptJson.MaxDepth)
            return 1;
        double length = 1;
        if (value is JsArray array)
        {
            for (uint i = 0; i < array.Length && length <= most; i++)
                length += TextLength(array[i], most - length, depth + 1);
            return length;
        }

        foreach (JsValue key in made.GetOwnPropertyKeys(Types.String))
        {
            if (length > most)
                break;
            length += key.ToString().Length
                + (made.GetOwnProperty(key) is { Get: null, Value: { } member }
                    ? TextLength(member, most - length, depth + 1)
                    : 1);
        }

        return length;
    }

    private static double JoinLength(JsValue self, JsValue separator)
    {
        if (self is not JsArray array)
            return 0;
        double length = array.Length * (separator is JsString between ? between.Length : 1d);
        for (uint i = 0; i < array.Length; i++)
            length += Length(array[i]);
        return length;
    }
}
