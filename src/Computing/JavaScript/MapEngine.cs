using System.Text;
using Jint;
using Jint.Native;
using Jint.Native.Json;
using Jint.Runtime.Interop;
using Treepie.Computations;

namespace Treepie.Computing.JavaScript;

/// <summary>An engine with the scripts of one map or reduce. One thread at a time.</summary>
internal sealed class MapEngine : IDisposable
{
    private const int MaxStatements = 100_000;
    private const int MaxRecursion = 64;
    private const long MaxBytes = 64 * 1024 * 1024;
    private const uint MaxArrayLength = 1_000_000;

    /// <summary>Ends what the count of statements does not see, as a sort of very much.</summary>
    private static readonly TimeSpan s_mostTime = TimeSpan.FromSeconds(5);

    private readonly Engine _engine;
    private readonly JsonSerializer _serializer;
    private readonly JsonParser _parser;
    private JsValue _function = JsValue.Undefined;
    private JsValue _aggregate = JsValue.Undefined;
    private IMapHost? _host;

    private MapEngine(IReadOnlyList<Prepared<Acornima.Ast.Script>> scripts)
    {
        _engine = new Engine(static options =>
        {
            options.Strict = true;
            options.LimitRecursion(MaxRecursion)
                .MaxStatements(MaxStatements)
                .LimitMemory(MaxBytes)
                .TimeoutInterval(s_mostTime)
                .RegexTimeoutInterval(TimeSpan.FromMilliseconds(100))
                .DisableStringCompilation()
                .LocalTimeZone(TimeZoneInfo.Utc);
            options.Constraints.MaxArraySize = MaxArrayLength;
        });
        _parser = new JsonParser(_engine);
        _serializer = new JsonSerializer(_engine);
        _engine.SetValue("$load", new ClrFunction(_engine, "load", (_, arguments) => Load(arguments)));
        _engine.SetValue(
            "$compareExchange",
            new ClrFunction(_engine, "cmpxchg", (_, arguments) => Parse(Host.CompareExchange(arguments[0].AsString()))));
        _engine.SetValue("map", new ClrFunction(_engine, "map", (_, arguments) => Define(arguments)));
        _engine.SetValue("groupBy", new ClrFunction(_engine, "groupBy", (_, arguments) => DefineReduce(arguments)));
        _engine.Execute(MapPrelude.Text);
        foreach (Prepared<Acornima.Ast.Script> script in scripts)
            _engine.Execute(script);
    }

    /// <summary>An engine of a map.</summary>
    /// <exception cref="InvalidOperationException">The scripts define none.</exception>
    public static MapEngine OfMap(IReadOnlyList<Prepared<Acornima.Ast.Script>> scripts) =>
        new MapEngine(scripts) is { Collection.Length: > 0 } engine
            ? engine
            : throw new InvalidOperationException("it calls no 'map': map('Orders', o => ({ … })).");

    /// <summary>An engine of a reduce.</summary>
    /// <exception cref="InvalidOperationException">The scripts define none.</exception>
    public static MapEngine OfReduce(IReadOnlyList<Prepared<Acornima.Ast.Script>> scripts) =>
        new MapEngine(scripts) is var engine && !engine._aggregate.IsUndefined()
            ? engine
            : throw new InvalidOperationException("it calls no 'groupBy(…).aggregate(…)'.");

    /// <summary>Results of objects of one group, as JSON.</summary>
    public IReadOnlyList<string> Reduce(IReadOnlyList<string> values)
    {
        var results = new List<string>();
        JsValue[] parsed = [.. values.Select(_parser.Parse)];
        var group = new JsObject(_engine);
        group.Set("key", _engine.Invoke(_function, parsed[0]));
        group.Set("values", new JsArray(_engine, parsed));
        Add(_engine.Invoke(_aggregate, group), results);
        return results;
    }

    /// <summary>The collection whose documents it maps.</summary>
    public string Collection { get; private set; } = "";

    private IMapHost Host => _host ?? throw new InvalidOperationException("documents are loaded while one is mapped.");

    /// <summary>Results of a document, as JSON.</summary>
    public IReadOnlyList<string> Run(string document, IMapHost host)
    {
        _host = host;
        try
        {
            var results = new List<string>();
            Add(_engine.Invoke(_function, _parser.Parse(document)), results);
            return results;
        }
        finally
        {
            _host = null;
        }
    }

    public void Dispose() => _engine.Dispose();

    private void Add(JsValue value, List<string> results)
    {
        if (value.IsNull() || value.IsUndefined())
            return;
        if (value is JsArray several)
        {
            if (several.Length > MapOutput.MaxObjects)
                throw new InvalidOperationException($"the document gives more than {MapOutput.MaxObjects:N0} results.");
            foreach (JsValue one in several)
                Add(one, results);
            return;
        }

        results.Add(value.IsObject()
            && _serializer.Serialize(value) is { } json
            && json.IsString()
            && json.AsString() is ['{', ..] text
            ? text
            : throw new InvalidOperationException("a result is no object."));
    }

    private JsValue Define(JsValue[] arguments)
    {
        if (Collection.Length > 0)
            throw new InvalidOperationException("it calls 'map' twice: give the index another map.");
        if (arguments is not [{ } collection, { } function]
            || !collection.IsString()
            || function is not Jint.Native.Function.Function)
            throw new InvalidOperationException("'map' takes the name of a collection and a function.");
        Collection = collection.AsString();
        _function = function;
        return JsValue.Undefined;
    }

    private JsObject DefineReduce(JsValue[] arguments)
    {
        _function = arguments is [Jint.Native.Function.Function by]
            ? by
            : throw new InvalidOperationException("'groupBy' takes a function.");
        var grouping = new JsObject(_engine);
        grouping.Set(
            "aggregate",
            new ClrFunction(
                _engine, "aggregate",
                (_, given) => _aggregate = given is [Jint.Native.Function.Function aggregate]
                    ? aggregate
                    : throw new InvalidOperationException("'aggregate' takes a function.")));
        return grouping;
    }

    private JsValue Load(JsValue[] arguments) => Parse(Host.Load(arguments[0].AsString(), arguments[1].AsString()));

    private JsValue Parse(byte[]? json) => json is null ? JsValue.Null : _parser.Parse(Encoding.UTF8.GetString(json));
}
