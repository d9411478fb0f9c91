using Acornima.Ast;
using Treepie.Computations;

namespace Treepie.Computing.JavaScript;

/// <summary>
/// What can be determined about a map in JavaScript without running it: the fields of its results, and what it loads.
/// </summary>
internal sealed class MapScriptShape
{
    private readonly IndexTexts _index;
    private readonly ScriptScope _scope;
    private readonly ResultShape _results = new();

    private MapScriptShape(IndexTexts index, IReadOnlyList<Node> scripts) => (_index, _scope) = (index, new ScriptScope(scripts));

    /// <summary>The fields of the results, as far as the text names them.</summary>
    public IReadOnlyList<MappedField> Fields => _results.Fields;

    /// <summary>Whether results may have fields that the text does not name.</summary>
    public bool IsOpen => _results.IsOpen;

    /// <summary>The collections from which documents are loaded.</summary>
    public SortedSet<string> Loaded { get; } = new(StringComparer.OrdinalIgnoreCase);

    public bool LoadsCompareExchange { get; private set; }

    public bool HasBoost { get; private set; }

    public bool HasDynamicFields { get; private set; }

    /// <exception cref="InvalidIndexDefinitionException">It loads from a collection that is not a literal.</exception>
    public static MapScriptShape Of(IndexTexts index, IReadOnlyList<Node> scripts)
    {
        var shape = new MapScriptShape(index, scripts);
        foreach (Node script in scripts)
            shape.Walk(script);
        return shape;
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
            case "map" when call.Arguments is [.., { } function]:
                _results.ReadFunction(function, _scope);
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
}
