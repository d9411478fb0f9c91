using System.Collections.ObjectModel;
using System.Globalization;
using System.Linq.Expressions;

namespace Treepie.Linq;

/// <summary>Calls of <see cref="RqlMethods"/>.</summary>
internal sealed class RqlMethodTranslator(ConditionTranslator conditions)
{
    private PathTranslator Paths => conditions.Paths;

    public Clause Of(MethodCallExpression call)
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
                return new Clause($"exact({conditions.Of(arguments[0]).Whole})");
            case nameof(RqlMethods.Boost):
                return Boost(conditions.Of(arguments[0]), Value<double>(arguments[1]));
            case nameof(RqlMethods.Spatial):
                string field = arguments.Count == 3
                    ? $"spatial.point({Path(arguments[0])}, {Path(arguments[1])})"
                    : $"spatial.wkt({Path(arguments[0])})";
                return Value<SpatialCriteria>(arguments[^1]).Condition(field, conditions.Parameters);
            default:
                throw Refusal.Of(call, "This method of RqlMethods is no condition.");
        }
    }

    /// <summary>Words of a member.</summary>
    public Clause Search(string path, string words, bool allWords) =>
        new($"search({path}, {conditions.Parameters.Add(words)}{(allWords ? ", and" : "")})");

    /// <summary>A condition with a factor for its score.</summary>
    public Clause Boost(Clause clause, double factor) => new($"boost({clause.Whole}, {conditions.Parameters.Add(factor)})");

    private string Path(Expression expression) => Paths.Of(expression).Text;

    private T Value<T>(Expression expression) =>
        !Paths.DependsOnDocument(expression) && Interpreter.ValueOf(expression) is T value
            ? value
            : throw Refusal.Of(expression, $"Expected a value of type {typeof(T).Name} that does not come from the document.");
}
