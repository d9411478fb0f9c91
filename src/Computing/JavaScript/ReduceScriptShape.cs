using Acornima.Ast;
using Treepie.Computations;

namespace Treepie.Computing.JavaScript;

/// <summary>What can be determined about a reduce in JavaScript without running it.</summary>
/// <param name="Keys">The members by which it groups.</param>
/// <param name="Results">The fields of its results.</param>
/// <param name="HasDynamicFields">Whether its results also have fields created by <c>createField</c>.</param>
internal sealed record ReduceScriptShape(IReadOnlyList<string> Keys, ResultShape Results, bool HasDynamicFields)
{
    private const string Form = "a reduce is 'groupBy(x => ({ City: x.City })).aggregate(g => ({ City: g.key.City, … }))'";

    /// <param name="index">The index.</param>
    /// <param name="scripts">The additional sources, followed by the reduce.</param>
    /// <exception cref="InvalidIndexDefinitionException">The script does not have the form of a reduce.</exception>
    public static ReduceScriptShape Of(IndexTexts index, IReadOnlyList<Acornima.Ast.Script> scripts)
    {
        Acornima.Ast.Script script = scripts[^1];
        if (script.Body is not [ExpressionStatement
            {
                Expression: CallExpression
                {
                    Callee: MemberExpression
                    {
                        Object: CallExpression
                        {
                            Callee: Identifier
                            {
                                Name: "groupBy"
                            }, Arguments: [IFunction
                            {
                                Body: Expression by
                            }]
                        }, Property: Identifier { Name: "aggregate" }
                    },
                    Arguments: [IFunction aggregate],
                },
            }])
            throw Refuse(index, script, Form + ".");
        while (by is ParenthesizedExpression inner)
            by = inner.Expression;
        string[] keys = by switch
        {
            Literal => [],
            ObjectExpression several => [
                .. several.Properties.Select(
                    member => member is Property { Value: Node value }
                        ? Member(index, value)
                        : throw Refuse(index, member, Form + "."))],
            _ => [Member(index, by)],
        };
        var results = new ResultShape();
        results.ReadFunction((Node)aggregate, new ScriptScope(scripts));
        return new ReduceScriptShape(keys, results, ResultShape.NamesFields(script));
    }

    private static string Member(IndexTexts index, Node node) =>
        node is MemberExpression { Object: Identifier, Property: Identifier member, Computed: false }
            ? member.Name
            : throw Refuse(
                index, node,
                "a reduce groups by members of the results, as 'x => x.City': compute in the map what is to be grouped by.");

    private static InvalidIndexDefinitionException Refuse(IndexTexts index, Node node, string problem) =>
        new(
            index.IndexName, "Reduce",
            $"the reduce, at line {node.Location.Start.Line}, column {node.Location.Start.Column + 1}: {problem}");
}
