using System.Buffers;
using System.Linq.Expressions;
using System.Text.Json;
using Treepie.Queries;

namespace Treepie.Linq;

/// <summary>
/// A facet query, which counts the results of a query by value or range:
/// <c>await orders.Where(…).AggregateBy(o => o.Company).SumOn(o => o.Freight).ExecuteAsync()</c>. Immutable: every method returns
/// a new query.
/// </summary>
/// <typeparam name="T">The type of the results that are counted.</typeparam>
public sealed class FacetQuery<T>
{
    private readonly QueryModel _model;
    private readonly IReadOnlyList<Func<Translation, string>> _finished;
    private readonly IReadOnlyList<Func<Translation, string>> _arguments;
    private readonly string? _name;

    internal FacetQuery(
        QueryModel model, IReadOnlyList<Func<Translation, string>> finished, IReadOnlyList<Func<Translation, string>> arguments,
        string? name) =>
        (_model, _finished, _arguments, _name) = (model, finished, arguments, name);

    /// <summary>Adds a facet on the values of another member.</summary>
    public FacetQuery<T> AndAggregateBy(Expression<Func<T, object?>> member, string? name = null) =>
        new(_model, [.. _finished, Facet], [t => t.Paths.Of(_model.OnDocument(member)).Text], name);

    /// <summary>Adds a facet on ranges of a member, given as conditions.</summary>
    public FacetQuery<T> AndAggregateBy(params Expression<Func<T, bool>>[] ranges) =>
        new(
            _model, [.. _finished, Facet],
            [.. ranges.Select(range => (Func<Translation, string>)(t =>
                t.Conditions.OnIndex(_model.OnDocument(range)).Whole))], null);

    /// <summary>Adds the sum of a member to each value of the facet.</summary>
    public FacetQuery<T> SumOn(Expression<Func<T, object?>> member) => With("sum", member);

    /// <summary>Adds the minimum of a member to each value of the facet.</summary>
    public FacetQuery<T> MinOn(Expression<Func<T, object?>> member) => With("min", member);

    /// <summary>Adds the maximum of a member to each value of the facet.</summary>
    public FacetQuery<T> MaxOn(Expression<Func<T, object?>> member) => With("max", member);

    /// <summary>Adds the average of a member to each value of the facet.</summary>
    public FacetQuery<T> AverageOn(Expression<Func<T, object?>> member) => With("avg", member);

    /// <summary>Returns the query as RQL with its parameters.</summary>
    public RqlStatement ToRql() =>
        _model.TranslateOnIndex(t => " select " + string.Join(", ", _finished.Append(Facet).Select(facet => facet(t))));

    /// <summary>Executes the query and returns the facets by name.</summary>
    public async Task<IReadOnlyDictionary<string, FacetResult>> ExecuteAsync(CancellationToken cancellationToken = default)
    {
        using QueryResults results = await _model.Session.QueryAsync(_model.Request(ToRql()), cancellationToken)
            .ConfigureAwait(false);
        var facets = new Dictionary<string, FacetResult>(StringComparer.Ordinal);
        var buffer = new ArrayBufferWriter<byte>();
        while (results.MoveNext())
        {
            buffer.ResetWrittenCount();
            results.WriteCurrent(buffer);
            using JsonDocument json = JsonDocument.Parse(buffer.WrittenMemory);
            string name = json.RootElement.GetProperty("Name").GetString() ?? "";
            facets[name] = new FacetResult(name, [.. json.RootElement.GetProperty("Values").EnumerateArray().Select(Value)]);
        }

        foreach (Action<QueryResults> observer in _model.Observers)
            observer(results);
        return facets;
    }

    /// <summary>Same as <see cref="ExecuteAsync"/>; blocks the thread.</summary>
    public IReadOnlyDictionary<string, FacetResult> Execute() => ExecuteAsync().GetAwaiter().GetResult();

    /// <inheritdoc/>
    public override string ToString() => ToRql().ToString();

    private static FacetValue Value(JsonElement json) =>
        new(json.GetProperty("Range").GetString() ?? "", json.GetProperty("Count").GetInt64())
        {
            Member = json.TryGetProperty("Name", out JsonElement name) ? name.GetString() : null,
            Sum = Number(json, "Sum"),
            Min = Number(json, "Min"),
            Max = Number(json, "Max"),
            Average = Number(json, "Average"),
        };

    private static double? Number(JsonElement json, string name) =>
        json.TryGetProperty(name, out JsonElement value) && value.ValueKind == JsonValueKind.Number ? value.GetDouble() : null;

    private FacetQuery<T> With(string sum, Expression<Func<T, object?>> member)
    {
        DocumentLambda summed = _model.OnDocument(member);
        return new FacetQuery<T>(
            _model, _finished,
            [
                .. _arguments,
                t => t.Paths.Of(summed) is var path && sum is "sum" or "avg"
                    ? $"{sum}({t.Paths.RequireNumbers(path, summed.Body).Text})"
                    : $"{sum}({path.Text})"
            ],
            _name);
    }

    private string Facet(Translation translation) =>
        $"facet({string.Join(", ", _arguments.Select(argument => argument(translation)))})"
            + (_name is null ? "" : $" as '{_name.Replace("'", "''", StringComparison.Ordinal)}'");
}
