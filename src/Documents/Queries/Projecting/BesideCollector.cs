using System.Text.Json;
using Treepie.Indexes.Fields;
using Treepie.Store;

namespace Treepie.Queries.Projecting;

/// <summary>Collects included data that is stored outside documents. Not thread-safe.</summary>
internal sealed class BesideCollector(IReadOnlyList<BesideInclude> includes)
{
    private readonly PathTree _paths = new(
        [
            .. includes.Select(static (include, slot) => (include, slot))
                .Where(static one => one.include.Owner is not null)
                .Select(static one => (one.include.Owner!, one.slot))]); // not null: filtered above

    public BesideIncluded Included { get; } = new()
    {
        HasCounters = Has(includes, BesideIncludeKind.Counter),
        HasTimeSeries = Has(includes, BesideIncludeKind.TimeSeries),
        HasCompareExchange = Has(includes, BesideIncludeKind.CompareExchange),
        HasRevisions = Has(includes, BesideIncludeKind.Revision) || Has(includes, BesideIncludeKind.RevisionBefore),
    };

    public void Collect(Document document)
    {
        if (includes.Count == 0)
            return;
        foreach (BesideInclude include in includes)
            if (include.Owner is null)
                Add(include, document.IdText());
        var sink = new TextSink(this);
        _paths.Visit(document.Body, ref sink);
    }

    private static bool Has(IReadOnlyList<BesideInclude> includes, BesideIncludeKind kind) =>
        includes.Any(include => include.Kind == kind);

    private void Add(BesideInclude include, string text)
    {
        switch (include.Kind)
        {
            case BesideIncludeKind.Counter:
                Included.AddCounter(text, include.Name);
                break;
            case BesideIncludeKind.TimeSeries:
                Included.Add(
                    new TimeSeriesInclude(
                        text, include.Name ?? TimeSeriesInclude.AllNames, include.From, include.To, include.LastCount,
                        include.LastTime));
                break;
            case BesideIncludeKind.CompareExchange:
                Included.AddCompareExchange(text);
                break;
            case BesideIncludeKind.Revision:
                Included.AddRevision(text);
                break;
            default:
                Included.AddRevision(text, include.From ?? DateTime.MaxValue);
                break;
        }
    }

    private readonly struct TextSink(BesideCollector collector) : IFieldSink
    {
        public void Value(int slot, ref Utf8JsonReader reader)
        {
            if (reader.TokenType == JsonTokenType.String && reader.GetString() is { Length: > 0 and <= 2048 } text)
                collector.Add(collector.At(slot), text);
        }

        public void Object(int slot, ref Utf8JsonReader reader)
        {
            // An object is not a reference.
        }

        public void StartOfArray(int slot, ref Utf8JsonReader reader)
        {
        }

        public void EmptyArray(int slot)
        {
            // Nothing to include.
        }
    }

    private BesideInclude At(int slot) => includes[slot];
}
