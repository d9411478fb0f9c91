using Jint;
using Jint.Native;
using Jint.Native.Object;
using Jint.Runtime;
using Jint.Runtime.Interop;
using Treepie.Computations;

namespace Treepie.Computing.JavaScript;

/// <summary>An engine with the scripts of one map or reduce. Not thread-safe.</summary>
internal sealed class MapEngine : IDisposable
{
    /// <summary>The name of the function whose body consists of the source texts.</summary>
    public const string Texts = "$texts";

    /// <summary>The name that stands for all collections.</summary>
    public const string AllDocuments = "@all_docs";

    /// <summary>The maximum number of bytes of a value that is compared with others.</summary>
    private const int MaxCompared = 256 << 20;

    private readonly ScriptSandbox _sandbox;
    private readonly ContentHash _content = new();
    private readonly ObjectInstance? _prototype;
    private readonly JsValue _texts;
    private readonly JsValue _withTimes;
    private readonly JsValue _withFields;
    private JsValue _function = JsValue.Undefined;
    private JsValue _aggregate = JsValue.Undefined;
    private IMapHost? _host;

    private MapEngine(Prepared<Acornima.Ast.Script> texts, ScriptLimits limits)
    {
        _sandbox = new ScriptSandbox(limits, Define, MapPrelude.Program, [texts]);
        _prototype = new JsObject(_sandbox.Engine).Prototype;
        _texts = _sandbox.Engine.GetValue(Texts);
        _withFields = _sandbox.Engine.GetValue(MapPrelude.WithFields);
        _withTimes = _sandbox.Engine.GetValue(MapPrelude.WithTimes);
    }

    /// <summary>The collection whose documents it maps; empty if there is no map.</summary>
    public string Collection { get; private set; } = "";

    /// <summary>The kind of items it maps.</summary>
    public IndexSourceType Source { get; private set; }

    /// <summary>The name of the time series or counter it maps; null for all.</summary>
    public string? BesideName { get; private set; }

    private IMapHost Host => _host ?? throw new InvalidOperationException("documents are loaded while one is mapped.");

    /// <summary>Creates an engine for a map.</summary>
    /// <exception cref="InvalidOperationException">The scripts define no map.</exception>
    public static MapEngine OfMap(Prepared<Acornima.Ast.Script> texts, ScriptLimits limits)
    {
        var engine = new MapEngine(texts, limits);
        engine.Limited(engine.DefineAnew);
        return engine.Collection.Length > 0
            ? engine
            : throw new InvalidOperationException("it calls no 'map': map('Orders', o => ({ … })).");
    }

    /// <summary>Creates an engine for a reduce.</summary>
    /// <exception cref="InvalidOperationException">The scripts define no reduce.</exception>
    public static MapEngine OfReduce(Prepared<Acornima.Ast.Script> texts, ScriptLimits limits)
    {
        var engine = new MapEngine(texts, limits);
        engine.Limited(engine.DefineAnew);
        return !engine._aggregate.IsUndefined()
            ? engine
            : throw new InvalidOperationException("it calls no 'groupBy(…).aggregate(…)'.");
    }

    /// <summary>Adds the results of a document.</summary>
    /// <param name="document">The document.</param>
    /// <param name="host">What the map may access.</param>
    /// <param name="output">Receives the results.</param>
    /// <param name="namesFields">Whether the results may have dynamic fields.</param>
    public void Run(ReadOnlyMemory<byte> document, IMapHost host, MapOutput output, bool namesFields)
    {
        _host = host;
        try
        {
            Limited(() =>
            {
                DefineAnew();
                JsValue value = Parse(document);
                if (Source == IndexSourceType.TimeSeries)
                    value = _sandbox.Engine.Invoke(_withTimes, value);
                AddResults(_sandbox.Engine.Invoke(_function, value), output, namesFields);
            });
        }
        finally
        {
            _host = null;
        }
    }

    /// <summary>Adds the results of the objects of one group.</summary>
    public void Reduce(IReadOnlyList<ReadOnlyMemory<byte>> values, MapOutput output, bool namesFields) => Limited(() =>
    {
        DefineAnew();
        Engine engine = _sandbox.Engine;
        JsValue[] parsed = [.. values.Select(value => ScriptJson.Parse(engine, value))];
        var group = new JsObject(engine);
        group.Set("key", engine.Invoke(_function, parsed[0]));
        group.Set("values", new JsArray(engine, parsed));
        AddResults(engine.Invoke(_aggregate, group), output, namesFields);
    });

    public void Dispose()
    {
        _sandbox.Dispose();
        _content.Dispose();
    }

    /// <summary>Runs the source texts, which call <c>map</c> or <c>groupBy</c>.</summary>
    private void DefineAnew()
    {
        Collection = "";
        _sandbox.Engine.Invoke(_texts);
    }

    /// <summary>Runs in the limits of the sandbox alone: indexing stops between two documents.</summary>
    private void Limited(Action run) => _sandbox.Run(run, CancellationToken.None);

    private void AddResults(JsValue results, MapOutput output, bool namesFields) =>
        Add(namesFields ? _sandbox.Engine.Invoke(_withFields, results) : results, output);

    private void Add(JsValue value, MapOutput output)
    {
        if (value.IsNull() || value.IsUndefined())
            return;
        if (value is JsArray several)
        {
            if (several.Length > MapOutput.MaxObjects)
                throw new InvalidOperationException($"the document gives more than {MapOutput.MaxObjects:N0} results.");
            for (uint i = 0; i < several.Length; i++)
                AddOne(several[i], output);
            return;
        }

        AddOne(value, output);
    }

    private void AddOne(JsValue value, MapOutput output)
    {
        if (value.IsNull() || value.IsUndefined())
            return;
        if (value is not ObjectInstance or JsArray or JsDate or Jint.Native.Function.Function)
            throw new InvalidOperationException("a result is no object.");
        ScriptJson.Write(value, default, output.Buffer, _sandbox.BudgetOfWrite(MapOutput.MaxBytes));
        output.EndObject();
    }

    private void Define(ScriptSandbox sandbox)
    {
        Engine engine = sandbox.Engine;
        engine.SetValue("$load", new ClrFunction(
            engine, "load", (_, arguments) => Parse(Host.Load(arguments.At(0).AsString(), arguments.At(1).AsString()))));
        engine.SetValue("$compareExchange", new ClrFunction(
            engine, "cmpxchg", (_, arguments) => Parse(Host.CompareExchange(arguments.At(0).AsString()))));
        engine.SetValue("$attachment", new ClrFunction(
            engine, "loadAttachment",
            (_, arguments) => Parse(Host.Attachment(arguments.At(0).AsString(), arguments.At(1).AsString()))));
        engine.SetValue("$attachmentText", new ClrFunction(
            engine, "getContentAsString",
            (_, arguments) => Host.AttachmentText(arguments.At(0).AsString(), arguments.At(1).AsString()) is { } text
                ? new JsString(text)
                : JsValue.Null));
        engine.SetValue("$content", new ClrFunction(
            engine, "content",
            (_, arguments) => new JsString(_content.Of(arguments.At(0), sandbox.BudgetOfWrite(MaxCompared)))));
        engine.SetValue("map", new ClrFunction(engine, "map", (_, arguments) => DefineMap(arguments)));
        engine.SetValue(MapPrelude.TimeSeries, MapsOver(engine, IndexSourceType.TimeSeries));
        engine.SetValue(MapPrelude.Counters, MapsOver(engine, IndexSourceType.Counters));
        engine.SetValue("groupBy", new ClrFunction(engine, "groupBy", (_, arguments) => DefineReduce(engine, arguments)));
    }

    private JsObject MapsOver(Engine engine, IndexSourceType source)
    {
        var made = new JsObject(engine);
        made.Set("map", new ClrFunction(engine, "map", (_, arguments) => DefineMapBeside(source, arguments)));
        return made;
    }

    private JsValue DefineMapBeside(IndexSourceType source, JsValue[] arguments)
    {
        RequireFirst();
        string of = source == IndexSourceType.Counters ? MapPrelude.Counters : MapPrelude.TimeSeries;
        if (arguments is not [.. { Length: <= 2 } names, Jint.Native.Function.Function function]
            || names.Any(static name => !name.IsString() || name.AsString().Length == 0))
            throw new InvalidOperationException(
                $"'{of}.map' takes the name of a collection, the name of one of its {of}, and a function; the names may be "
                    + "left out.");
        Collection = names.Length > 0 ? names[0].AsString() : AllDocuments;
        BesideName = names.Length > 1 ? names[1].AsString() : null;
        Source = source;
        _function = function;
        return JsValue.Undefined;
    }

    private void RequireFirst()
    {
        if (Collection.Length > 0)
            throw new InvalidOperationException("it calls 'map' twice: give the index another map.");
    }

    private JsValue DefineMap(JsValue[] arguments)
    {
        RequireFirst();
        if (arguments is not [{ } collection, { } function]
            || !collection.IsString()
            || function is not Jint.Native.Function.Function)
            throw new InvalidOperationException("'map' takes the name of a collection and a function.");
        Collection = collection.AsString();
        _function = function;
        return JsValue.Undefined;
    }

    private JsObject DefineReduce(Engine engine, JsValue[] arguments)
    {
        _function = arguments is [Jint.Native.Function.Function by]
            ? by
            : throw new InvalidOperationException("'groupBy' takes a function.");
        var grouping = new JsObject(engine);
        grouping.Set(
            "aggregate",
            new ClrFunction(
                engine, "aggregate",
                (_, given) => _aggregate = given is [Jint.Native.Function.Function aggregate]
                    ? aggregate
                    : throw new InvalidOperationException("'aggregate' takes a function.")));
        return grouping;
    }

    private JsValue Parse(byte[]? json) => json is null ? JsValue.Null : Parse(json.AsMemory());

    private JsValue Parse(ReadOnlyMemory<byte> json) => ScriptJson.Lazy(_sandbox.Engine, json, _prototype);
}
