using System.Text.Json;
using Jint;
using Jint.Native;
using Jint.Native.Object;
using Jint.Runtime;
using Jint.Runtime.Interop;
using Treepie.Computations;
using Treepie.Queries.Filters;
using static Treepie.Computing.JavaScript.SharedFunctions;

namespace Treepie.Computing.JavaScript;

/// <summary>The functions of patches and queries that read and change data.</summary>
internal sealed class ScriptFunctions
{
    /// <summary>The maximum number of names in arrays of one call of <c>load</c> or <c>include</c>.</summary>
    private const uint MaxLoaded = 4_096;

    /// <summary>The maximum depth of arrays within each other in a call of <c>load</c> or <c>include</c>.</summary>
    private const int MaxNested = 2;

    private readonly ScriptSandbox _sandbox;
    private readonly Engine _engine;
    private readonly NumberTexts _texts;
    private readonly Dictionary<object, ReadOnlyMemory<byte>> _originals = new(ReferenceEqualityComparer.Instance);
    private IScriptHost? _host;

    public ScriptFunctions(ScriptSandbox sandbox, int maxLength, NumberTexts texts)
    {
        Engine engine = sandbox.Engine;
        (_sandbox, _engine, _texts) = (sandbox, engine, texts);
        Define("load", 1, (_, arguments) => Load(arguments.At(0)));
        Define("cmpxchg", 1, (_, arguments) => Parse(Host.CompareExchange(Text(arguments.At(0), "cmpxchg", "the key"))));
        Define("counter", 2, (_, arguments) =>
            Counter(arguments, "counter") is { } sum ? new JsNumber((double)sum) : JsValue.Null);
        Define("counterRaw", 2, (_, arguments) => CounterRaw(arguments));
        Define("scalarToRawString", 2, (_, arguments) => ScalarText(arguments.At(0), arguments.At(1)));
        Define("include", 1, (_, arguments) => Include(ScriptIncludeKind.Document, arguments));
        var includes = new JsObject(engine);
        includes.Set("document", Including(ScriptIncludeKind.Document, "document"));
        includes.Set("cmpxchg", Including(ScriptIncludeKind.CompareExchange, "cmpxchg"));
        includes.Set("revisions", Including(ScriptIncludeKind.Revision, "revisions"));
        engine.SetValue("includes", includes);
        Define("put", 2, (_, arguments) => Put(arguments));
        Define("del", 1, (_, arguments) => Delete(arguments));
        Define("incrementCounter", 3, (_, arguments) => IncrementCounter(arguments));
        Define("deleteCounter", 2, (_, arguments) => DeleteCounter(arguments));
        Define("timeseries", 2, (_, arguments) => SeriesFunctions.Make(
            _engine, Host, IdText(arguments.At(0), "timeseries"), Text(arguments.At(1), "timeseries", "the time series' name"),
            maxLength));
        Define(ScriptFunction.DeclaredTimeSeries, 2, (_, arguments) => DeclaredTimeSeries(arguments));
        Define(ScriptFunction.Fold, 1, static (_, arguments) => new JsString(FilterValue.Folded(arguments.At(0).ToString())));
        Define(
            ScriptFunction.Order, 2,
            static (_, arguments) =>
                new JsNumber(FilterValue.CompareTexts(arguments.At(0).ToString(), arguments.At(1).ToString())));
        Define("attachments", 1, static (_, _) => throw new ScriptException(
            "'attachments' changes the contents of attachments, which scripts cannot: 'attachmentsFor' names them, and clients "
                + "put and delete them."));
        Define("output", 1, (_, arguments) => Write(arguments));
        var console = new JsObject(engine);
        console.Set("log", new ClrFunction(engine, "log", (_, arguments) => Write(arguments), 1));
        engine.SetValue("console", console);
        var archived = new JsObject(engine);
        archived.Set("archiveAt", new ClrFunction(engine, "archiveAt", static (_, arguments) => ArchiveAt(arguments), 2));
        engine.SetValue("archived", archived);
    }

    private IScriptHost Host => _host ?? throw new InvalidOperationException("A script runs for a host.");

    public void Begin(IScriptHost host) => _host = host;

    public void End()
    {
        _host = null;
        _originals.Clear();
    }

    /// <summary>Stores the text of a document, to return its numbers as they are written.</summary>
    public void Note(JsValue document, ReadOnlyMemory<byte> json) => _originals[document] = json;

    private void Define(string name, int parameters, Func<JsValue, JsValue[], JsValue> function) =>
        _engine.SetValue(name, new ClrFunction(_engine, name, function, parameters));

    private JsValue Load(JsValue what)
    {
        uint count = 0;
        return Each(what, "load", depth: 0, ref count, id => Parse(Host.Load(Text(id, "load", "the id"))));
    }

    /// <summary>
    /// Calls an action with a name, or with each of an array of names; null gives null. All arrays of a call count together.
    /// </summary>
    private JsValue Each(JsValue what, string function, int depth, ref uint count, Func<JsValue, JsValue> action)
    {
        _engine.Constraints.Check();
        if (what is not JsArray many)
            return what.IsNull() || what.IsUndefined() ? JsValue.Null : action(what);
        if (depth == MaxNested)
            throw new ScriptException(
                $"'{function}' is given arrays nested more than {MaxNested} deep: give one array of names.");
        uint length = many.Length;
        if (length > MaxLoaded - count)
            throw new ScriptException(
                $"'{function}' is given {(ulong)count + length:N0} names; {MaxLoaded:N0} are the most of one call.");
        count += length;
        var results = new JsValue[length];
        for (uint i = 0; i < length; i++)
            results[i] = Each(many[i], function, depth + 1, ref count, action);
        return new JsArray(_engine, results);
    }

    /// <summary>Calls a declared time series by its number, for a document or, with that argument left out, for that of the
    /// script.</summary>
    private JsValue DeclaredTimeSeries(JsValue[] arguments) => Parse(Host.DeclaredTimeSeries(
        arguments.At(0) is JsNumber number ? (int)number.AsNumber() : -1,
        arguments.Length < 2 ? null : IdText(arguments[1], "a declared time series")));

    private JsString Put(JsValue[] arguments)
    {
        string id = arguments.At(0).IsNull() || arguments.At(0).IsUndefined() ? "" : Text(arguments.At(0), "put", "the id");
        if (arguments.At(1) is not ObjectInstance document || document is JsArray)
            throw new ScriptException($"'put' of '{id}' is given no object as its second argument: put(id, document).");
        var json = new System.Buffers.ArrayBufferWriter<byte>();
        ScriptJson.Write(document, default, json, _sandbox.BudgetOfWrite(ScriptEngine.MaxResultBytes), _texts);
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

    /// <summary>Writes the time into the metadata of a document; that of the patched document is stored with it.</summary>
    private static JsValue ArchiveAt(JsValue[] arguments)
    {
        if (arguments.At(0) is not ObjectInstance document || document.Get("@metadata") is not ObjectInstance metadata)
            throw new ScriptException("'archived.archiveAt' is given no document: archived.archiveAt(this, '2030-01-01').");
        metadata.Set(
            "@archive-at",
            arguments.At(1) is JsDate date
                ? new JsString(ScriptDates.Format(date.ToDateTime()))
                : new JsString(Text(arguments.At(1), "archived.archiveAt", "the time")));
        return JsValue.Undefined;
    }

    /// <summary>
    /// Returns the sum of a counter; null if there is none, or if the document is null, as one is that was not found.
    /// </summary>
    private long? Counter(JsValue[] arguments, string function) => arguments.At(0).IsNull()
        ? null
        : Host.Counter(IdText(arguments.At(0), function), Text(arguments.At(1), function, "the counter's name"));

    /// <summary>Returns the sums of a counter by the node that counted; there is one. Null if there is no counter.</summary>
    private JsValue CounterRaw(JsValue[] arguments)
    {
        if (Counter(arguments, "counterRaw") is not { } sum)
            return JsValue.Null;
        var byNode = new JsObject(_engine);
        byNode.Set("A", new JsNumber((double)sum));
        return byNode;
    }

    private ClrFunction Including(ScriptIncludeKind kind, string name) =>
        new(_engine, name, (_, arguments) => Include(kind, arguments), 1);

    /// <summary>Includes each of the arguments, which may be arrays; nothing for null.</summary>
    private JsValue Include(ScriptIncludeKind kind, JsValue[] names)
    {
        uint count = 0;
        foreach (JsValue name in names)
            Each(name, "include", depth: 0, ref count, text =>
            {
                Host.Include(kind, Text(text, "include", "what to include"));
                return JsValue.Undefined;
            });
        return JsValue.Undefined;
    }

    /// <summary>Calls a function with a document whose numbers are texts, as they are written.</summary>
    private JsValue ScalarText(JsValue document, JsValue select)
    {
        if (document is not ObjectInstance)
            return JsValue.Null;
        if (select is not Jint.Native.Function.Function)
            throw new ScriptException(
                "'scalarToRawString' wants a document and a function that selects a value of it: scalarToRawString(o, x => "
                    + "x.Price).");
        using JsonDocument? original = _originals.TryGetValue(document, out ReadOnlyMemory<byte> text)
            ? JsonDocument.Parse(text, ScriptJson.Reading)
            : null;
        var written = new System.Buffers.ArrayBufferWriter<byte>();
        ScriptJson.Write(
            document, original?.RootElement ?? default, written, _sandbox.BudgetOfWrite(ScriptEngine.MaxResultBytes), _texts);
        using var current = JsonDocument.Parse(written.WrittenMemory, ScriptJson.Reading);
        JsValue found = _engine.Call(select, [ScriptJson.ReadAsTexts(_engine, current.RootElement)]);
        return found is JsString || found.IsNull() || found.IsUndefined()
            ? found
            : throw new ScriptException("'scalarToRawString' selects an object or an array: select a number, text or boolean.");
    }

    private JsValue Parse(byte[]? json)
    {
        if (json is null)
            return JsValue.Null;
        JsValue parsed = ScriptJson.Parse(_engine, json, _texts);
        if (parsed is ObjectInstance)
            Note(parsed, json);
        return parsed;
    }

    /// <summary>Returns an id, given as such or as a document.</summary>
    private static string IdText(JsValue value, string function) =>
        (value is JsString ? value : IdOf(value)) is JsString id
            ? id.ToString()
            : throw new ScriptException($"'{function}' is given neither an id nor a document.");
}
