using System.Collections.ObjectModel;
using System.Globalization;
using System.Linq.Expressions;

namespace Treepie.Linq;

/// <summary>Translates calls of <see cref="RqlMethods"/>.</summary>
internal sealed class RqlMethodTranslator(ConditionTranslator conditions)
{
    /// <summary>The error message for a method that cannot be evaluated on documents.</summary>
    public const string OnlyOfIndex =
        "Only an index can evaluate it, but this condition is evaluated on documents. Write it in a separate Where, which is "
        + "joined with the others by 'and'.";

    private PathTranslator Paths => conditions.Paths;

    public Clause Of(MethodCallExpression call)
    {
        string name = call.Method.Name;
        if (name is nameof(RqlMethods.Exact) or nameof(RqlMethods.Exists) or nameof(RqlMethods.Boost))
            return Translate(call);
        return conditions.IsFilter
            ? throw Refusal.Of(call, OnlyOfIndex)
            : Translate(call) with { IsOfIndex = true };
    }

    private Clause Translate(MethodCallExpression call)
    {
        ReadOnlyCollection<Expression> arguments = call.Arguments;
        switch (call.Method.Name)
        {
            case nameof(RqlMethods.Search):
                return Search(Path(arguments[0]), Value<string>(arguments[1]), Value<bool>(arguments[2]));
            case nameof(RqlMethods.Fuzzy):
                string path = Path(arguments[0]);
                string text = conditions.Parameters.Add(Value<string>(arguments[1]));
                return new Clause($"fuzzy({path} = {text}, {conditions.Parameters.Add(Value<double>(arguments[2]))})");
            case nameof(RqlMethods.Proximity):
                Clause search = Search(Path(arguments[0]), Value<string>(arguments[1]), allWords: false);
                return new Clause($"proximity({search.Text}, {Value<int>(arguments[2]).ToString(CultureInfo.InvariantCulture)})");
            case nameof(RqlMethods.Lucene):
                return new Clause($"lucene({Path(arguments[0])}, {conditions.Parameters.Add(Value<string>(arguments[1]))})");
            case nameof(RqlMethods.Exists):
                return new Clause($"exists({Path(arguments[0])})");
            case nameof(RqlMethods.Exact):
                return conditions.Of(arguments[0]).Within(text => $"exact({text})", filters: true);
            case nameof(RqlMethods.Boost):
                return Boost(conditions.Of(arguments[0]), Value<double>(arguments[1]));
            case nameof(RqlMethods.Spatial):
                string field = arguments.Count == 3
                    ? $"spatial.point({Path(arguments[0])}, {Path(arguments[1])})"
                    : $"spatial.wkt({Path(arguments[0])})";
                return Value<SpatialCriteria>(arguments[^1]).Condition(field, conditions.Parameters);
            default:
                throw Refusal.Of(call, "RqlMethods.Load can be used only in Select. Conditions are about the document itself.");
        }
    }

    /// <summary>Translates a full-text search in a member.</summary>
    public Clause Search(string path, string words, bool allWords) =>
        new($"search({path}, {conditions.Parameters.Add(words)}{(allWords ? ", and" : "")})");

    /// <summary>Translates a condition with a factor for its score.</summary>
    public Clause Boost(Clause clause, double factor) =>
        clause.Within(text => $"boost({text}, {conditions.Parameters.Add(factor)})", filters: false);

    private string Path(Expression expression) => Paths.Of(expression).Text;

    private T Value<T>(Expression expression) =>
        !Paths.DependsOnDocument(expression) && Interpreter.ValueOf(expression) is T value
            ? value
            : throw Refusal.Of(expression, $"Expected a value of type {typeof(T).Name} that does not come from the document.");
}
