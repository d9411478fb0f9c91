using System.Buffers;
using System.Text.Json;
using Treepie.Indexing;
using Treepie.Queries.Binding;

namespace Treepie.Queries.Faceting;

/// <summary>Writes facets as result rows: a JSON object for each, in the format of RavenDB clients.</summary>
internal static class FacetRows
{
    public static IReadOnlyList<byte[]> Of(IReadOnlyList<BoundFacet> facets, FacetResults results)
    {
        var rows = new byte[facets.Count][];
        for (int i = 0; i < rows.Length; i++)
        {
            var output = new ArrayBufferWriter<byte>();
            using (var json = new Utf8JsonWriter(
                output,
                new JsonWriterOptions { Encoder = System.Text.Encodings.Web.JavaScriptEncoder.UnsafeRelaxedJsonEscaping }))
                Write(json, facets[i], results.Facets[i]);
            rows[i] = output.WrittenSpan.ToArray();
        }

        return rows;
    }

    /// <summary>Returns empty results, for a collection that has no documents and so no index.</summary>
    public static FacetResults Nothing(IReadOnlyList<BoundFacet> facets) => new(
        0,
        [
            .. facets.Select(facet => new FacetResult(
                [.. facet.Query.Ranges.Select(range => new FacetValue(range.Name, 0, new FacetFigures[facet.Sums.Count]))], [], 0,
                0)),
        ],
        default,
        null);

    private static void Write(Utf8JsonWriter json, BoundFacet facet, FacetResult result)
    {
        json.WriteStartObject();
        json.WriteString("Name", facet.Name);
        json.WriteStartArray("Values");
        foreach (FacetValue value in result.Values)
        {
            // With aggregates of several fields, each field is a value of its own, with the field's name.
            if (facet.Sums.Count == 0)
                Write(json, facet, value, null, default);
            for (int i = 0; i < facet.Sums.Count; i++)
                Write(json, facet, value, facet.Sums[i], value.Figures[i]);
        }

        json.WriteEndArray();
        RemainingTerms remaining = facet.Remaining
            ?? new RemainingTerms(result.RemainingTerms, result.RemainingTermsCount, result.RemainingHits);
        json.WriteStartArray("RemainingTerms");
        foreach (string term in remaining.Terms)
            json.WriteStringValue(Text(facet, term));
        json.WriteEndArray();
        json.WriteNumber("RemainingTermsCount", remaining.Count);
        json.WriteNumber("RemainingHits", remaining.Hits);
        json.WriteEndObject();
    }

    /// <summary>An index has texts without case: moments are written as they are everywhere else.</summary>
    private static string Text(BoundFacet facet, string term) => facet.IsMoments ? term.ToUpperInvariant() : term;

    private static void Write(
        Utf8JsonWriter json, BoundFacet facet, FacetValue value, FacetSums? sums, FacetFigures figures)
    {
        json.WriteStartObject();
        json.WriteString("Range", Text(facet, value.Range));
        json.WriteNumber("Count", value.Count);
        if (sums is not null)
        {
            json.WriteString("Name", sums.Name);
            WriteIf(json, "Sum", sums.Kinds.HasFlag(FacetSumKinds.Sum), figures.Sum);
            WriteIf(json, "Min", sums.Kinds.HasFlag(FacetSumKinds.Min), OfNumbers(figures, figures.Min));
            WriteIf(json, "Max", sums.Kinds.HasFlag(FacetSumKinds.Max), OfNumbers(figures, figures.Max));
            WriteIf(json, "Average", sums.Kinds.HasFlag(FacetSumKinds.Average), OfNumbers(figures, figures.Average));
        }

        json.WriteEndObject();
    }

    /// <summary>No number is the least, the greatest or the average of none.</summary>
    private static double OfNumbers(FacetFigures figures, double value) => figures.Count > 0 ? value : double.NaN;

    /// <summary>Writes null for infinities and NaN, which JSON cannot represent.</summary>
    private static void WriteIf(Utf8JsonWriter json, string name, bool isWanted, double value)
    {
        if (isWanted && double.IsFinite(value))
            json.WriteNumber(name, value);
        else if (isWanted)
            json.WriteNull(name);
    }
}
