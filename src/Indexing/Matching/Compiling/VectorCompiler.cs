using System.Globalization;
using System.Text;
using Treepie.Indexing.Matching.Views;
using Treepie.Indexing.Plans;
using Treepie.Indexing.Queries;
using Treepie.Indexing.Schema;
using Treepie.Indexing.Vectors;

namespace Treepie.Indexing.Matching.Compiling;

/// <summary>
/// Finds the entries nearest to a vector among those that match the other conditions of the conjunction. The filter is
/// applied during the search, so as many are found as requested. If the filter leaves few entries, all of them are compared
/// instead of searching the graph.
/// </summary>
internal sealed class VectorCompiler(QueryContext context)
{
    /// <summary>
    /// With at most this many vectors, or entries left by the filter, the graph is not used: comparing all is no slower, and
    /// exact.
    /// </summary>
    private const long FewEntries = 1_000;

    /// <summary>
    /// If the filter leaves less than one entry in this many, all of those are compared: a graph search would visit as many
    /// others for each entry that counts.
    /// </summary>
    private const int ScanBelow = 50;

    /// <summary>
    /// A graph search visits about 1,500 vectors, and 1/s times as many if the filter leaves a share s. Each visit costs an
    /// eighth of comparing an entry with its full-precision vector. With n entries in the index, comparing is therefore
    /// cheaper for up to √(1,500 / 8 · n) remaining entries.
    /// </summary>
    private const double WalkAgainstScan = 1_500 / 8.0;

    /// <summary>
    /// Minimum number of candidates of a graph search: gives a recall of 0.95 among the nearest ten, see
    /// <c>VectorIndexTests</c>.
    /// </summary>
    private const int LeastCandidates = 96;

    private readonly IndexView _view = context.View;
    private const string Compared = "all compared";
    private const string LeftCompared = "those that the other conditions leave compared";
    private const string Graph = "by the graph";
    private const string FilteredGraph = "by the graph, among those that the other conditions leave";

    private string _way = "none";
    private PlanDecision? _decision;

    /// <summary>
    /// Compiles the search into an operator over its results. <inheritdoc cref="Find(VectorQuery, Operator?)"/>
    /// </summary>
    public NearestOperator Compile(VectorQuery query, Operator? filter) =>
        new(context, Find(query, filter), query.Field, _way) { Decision = _decision };

    /// <summary>Finds the nearest entries, nearest first.</summary>
    /// <param name="query">The search.</param>
    /// <param name="filter">The other conditions; null if there are none.</param>
    /// <exception cref="IndexQueryException">The field has no vectors, or the vector does not fit the field.</exception>
    public List<NearEntry> Find(VectorQuery query, Operator? filter)
    {
        int field = _view.Field(query.Field);
        if (_view.Schema.Fields[field] is not { Analysis: FieldAnalysis.Vector } known)
            throw new IndexQueryException($"The field '{query.Field}' has no vectors.");
        if (query.Candidates is < 1 or > VectorQuery.MaxCandidates)
            throw new IndexQueryException(
                $"The number of candidates is from 1 to {VectorQuery.MaxCandidates:N0}; {query.Candidates} is not.");

        var options = known.Vector ?? new VectorFieldOptions();
        var reader = new VectorReader(_view.Tree, field, options, context.Meter);
        List<float[]> wanted = query.OfEntry is { } key
            ? VectorsOf(key, field, options)
            : [[.. query.Vector], .. query.Others.Select(static other => other.ToArray())];
        if (wanted.Count > VectorQuery.MaxVectors)
            throw new IndexQueryException(
                $"A search looks for at most {VectorQuery.MaxVectors} vectors at once; {wanted.Count} are given.");
        foreach (float[] vector in wanted)
        {
            try
            {
                Similarity.Check(vector, reader.Dimensions);
            }
            catch (InvalidVectorException error)
            {
                throw new IndexQueryException($"The vector asked for in '{query.Field}': {error.Message}");
            }
        }

        List<NearEntry> found = reader.Count == 0 ? [] : FindAny(reader, query, wanted, filter);
        if (query.MinimumSimilarity is { } least)
            found.RemoveAll(entry => entry.Similarity < least);
        return found;
    }

    /// <summary>Searches for each of several vectors and returns the best of all results.</summary>
    private List<NearEntry> FindAny(VectorReader reader, VectorQuery query, List<float[]> wanted, Operator? filter)
    {
        if (wanted is [float[] only])
            return Find(reader, query, only, filter);

        var nearest = new NearestEntries(query.Candidates);
        foreach (float[] vector in wanted)
        {
            foreach (NearEntry entry in Find(reader, query, vector, filter))
                nearest.Add(entry.Id, entry.Similarity);
        }

        return nearest.Finish();
    }

    /// <summary>Returns the vectors of the entry with a key, on whichever side of a combined index it is.</summary>
    private List<float[]> VectorsOf(string key, int field, VectorFieldOptions options)
    {
        byte[] utf8 = Encoding.UTF8.GetBytes(key);
        if (context.Combined is not { } combined)
            return _view.Find(utf8) is >= 0 and var own ? new VectorReader(_view.Tree, field, options).Of(own) : [];
        return combined.TryFind(utf8, out QueryContext where, out long id)
            ? new VectorReader(where.View.Tree, field, options).Of(id)
            : [];
    }

    private List<NearEntry> Find(VectorReader reader, VectorQuery query, float[] wanted, Operator? filter)
    {
        int count = query.Candidates;
        string? few = query.IsExact
            ? "it is asked to be exact"
            : reader.Count <= FewEntries ? Said($"the field has no more than {FewEntries:N0} vectors") : null;
        if (filter is null)
        {
            if (few is not null)
            {
                Choose(
                    Compared, few, Graph,
                    query.IsExact ? "finds nearly all of the nearest, not all" : "no shorter, and not exact");
                return reader.ScanAll(wanted, count, context.Check);
            }

            Choose(
                Graph, "it looks at a small part of the vectors", Compared,
                Said($"each of {reader.Count:N0} vectors would be read"));
            return Walk(reader, wanted, count, null, long.MaxValue) ?? [];
        }

        var left = new FilteredEntries(context, filter);
        if (few is null
            && (left.Count <= FewEntries
                || left.Count < _view.State.EntryCount / ScanBelow
                || left.Count < Math.Sqrt(WalkAgainstScan * _view.State.EntryCount)))
            few = Said($"the other conditions leave {left.Count:N0} of {_view.State.EntryCount:N0} entries");
        if (few is null && Walk(reader, wanted, count, left.Contains, MostVisits(left)) is { } found)
        {
            Choose(
                FilteredGraph, "it asks the other conditions as it goes", LeftCompared,
                Said($"each of {left.Count:N0} entries would be read"));
            return found;
        }

        // If the entries left are far from the vector, the graph search takes too long and comparing is cheaper.
        Choose(
            LeftCompared, few ?? "what they leave is far from the vector", FilteredGraph,
            few is null
                ? Said($"it was begun, and had looked at {MostVisits(left):N0} vectors")
                : query.IsExact ? "finds nearly all of the nearest, not all" : "no shorter, and not exact");
        return reader.Scan(wanted, count, left, context.Check);
    }

    private static long MostVisits(FilteredEntries left) => 8 * left.Count;

    private void Choose(string chosen, string reason, string other, string why)
    {
        _way = chosen;
        if (context.Tracer is not null)
            _decision = new PlanDecision(
                "how to find the nearest", chosen, null, reason, [new PlanAlternative(other, null, why)]);
    }

    private static string Said(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);

    private List<NearEntry>? Walk(VectorReader reader, float[] wanted, int count, Func<long, bool>? accepts, long mostVisits) =>
        reader.Walk(wanted, count, LeastCandidates, accepts, mostVisits, context.Check);
}
