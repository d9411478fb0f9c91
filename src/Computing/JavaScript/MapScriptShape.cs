using Acornima.Ast;
using Treepie.Computations;

namespace Treepie.Computing.JavaScript;

/// <summary>
/// What can be determined about a map in JavaScript without running it: the fields of its results, and what it loads.
/// </summary>
internal sealed class MapScriptShape
{
    private readonly IndexTexts _index;
    private readonly List<MappedField> _fields = [];

    private MapScriptShape(IndexTexts index) => _index = index;

    /// <summary>The fields of the results, as far as returned objects are written as literals.</summary>
    public IReadOnlyList<MappedField> Fields => _fields;

    /// <summary>The collections from which documents are loaded.</summary>
    public SortedSet<string> Loaded { get; } = new(StringComparer.OrdinalIgnoreCase);

    public bool LoadsCompareExchange { get; private set; }

    public bool HasBoost { get; private set; }

    public bool HasDynamicFields { get; private set; }

    /// <exception cref="InvalidIndexDefinitionException">It loads from a collection that is not a literal.</exception>
    public static MapScriptShape Of(IndexTexts index, IEnumerable<Node> scripts)
    {
        var shape = new MapScriptShape(index);
        foreach (Node script in scripts)
            shape.Walk(script);
        return shape;
    }

    /// <summary>Returns the fields of the results of a function.</summary>
    public static IReadOnlyList<MappedField> ResultsOf(IndexTexts index, IFunction function)
    {
        var shape = new MapScriptShape(index);
        shape.ReadFunction(function);
        return shape._fields;
    }

    public InvalidIndexDefinitionException Refuse(Node node, string problem) =>
        new(
            _index.IndexName, "Maps",
            $"a map, at line {node.Location.Start.Line}, column {node.Location.Start.Column + 1}: {problem}");

    private void Walk(Node node)
    {
        if (node is CallExpression call)
            ReadCall(call);
        foreach (Node child in node.ChildNodes)
            if (child is not null)
                Walk(child);
    }

    private void ReadCall(CallExpression call)
    {
        switch (NameOf(call.Callee))
        {
            case "map" when call.Arguments is [.., IFunction function]:
                ReadFunction(function);
                break;
            case "load":
                Loaded.Add(
                    call.Arguments is [_, StringLiteral { Value.Length: > 0 } collection]
                        ? collection.Value
                        : throw Refuse(call, "'load' takes an id and the name of a collection: load(u.companyId, 'Companies')."));
                break;
            case "cmpxchg":
                LoadsCompareExchange = true;
                break;
            case "boost" when call.Callee is Identifier:
                HasBoost = true;
                break;
            case "createField":
                HasDynamicFields = true;
                break;
        }
    }

    private static string? NameOf(Node callee) => callee switch
    {
        Identifier name => name.Name,
        MemberExpression
        {
            Object: Identifier { Name: "noTracking" or MapPrelude.TimeSeries or MapPrelude.Counters },
            Property: Identifier member
        } => member.Name,
        _ => null,
    };

    private void ReadFunction(IFunction function)
    {
        if (function.Body is Expression result)
            ReadResult(result);
        else
            ReadReturns(function.Body);
    }

    /// <summary>Reads the return values of a function, excluding those of nested functions.</summary>
    private void ReadReturns(Node node)
    {
        if (node is ReturnStatement { Argument: { } result })
            ReadResult(result);
        foreach (Node child in node.ChildNodes)
            if (child is not (null or IFunction))
                ReadReturns(child);
    }

    private void ReadResult(Node node)
    {
        switch (node)
        {
            case ObjectExpression made:
                foreach (Node member in made.Properties)
                    ReadMember(member);
                break;
            case ArrayExpression several:
                foreach (Expression? one in several.Elements)
                    if (one is not null)
                        ReadResult(one);
                break;
            case ConditionalExpression choice:
                ReadResult(choice.Consequent);
                ReadResult(choice.Alternate);
                break;
            case ParenthesizedExpression inner:
                ReadResult(inner.Expression);
                break;
            case CallExpression { Callee: Identifier { Name: "boost" }, Arguments: [{ } weighted, ..] }:
                ReadResult(weighted);
                break;
            case CallExpression
            {
                Callee: MemberExpression
                {
                    Property: Identifier
                    {
                        Name: "map"
                or "flatMap"
                    }
                }, Arguments: [IFunction inner]
            }:
                ReadFunction(inner); // one object per element
                break;
            case CallExpression
            {
                Callee: MemberExpression
                {
                    Property: Identifier
                    {
                        Name: "filter"
                or "concat"
                    }, Object: { } source
                }
            }:
                ReadResult(source);
                break;
        }
    }

    /// <summary>Returns whether a value contains dynamic fields.</summary>
    public static bool NamesFields(Node value) =>
        value is CallExpression { Callee: Identifier { Name: "createField" } }
            || value.ChildNodes.Any(static child => child is not null && NamesFields(child));

    private void ReadMember(Node member)
    {
        if (member is not Property { Computed: false } property)
            return;
        string? name = property.Key switch
        {
            Identifier identifier => identifier.Name,
            StringLiteral text => text.Value,
            _ => null,
        };
        string? made = property.Value is CallExpression { Callee: Identifier callee } ? callee.Name : null;
        if (name is null || NamesFields(property.Value) || _fields.Exists(field => field.Name == name))
            return;
        _fields.Add(new MappedField(name, made switch
        {
            "createSpatialField" => MappedFieldKind.Spatial,
            "createVector" => MappedFieldKind.Vector,
            _ => MappedFieldKind.Value,
        }));
    }
}
