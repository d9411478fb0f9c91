using System.Buffers;
using System.Text.Json;
using Treepie.Computations;
using Treepie.Indexes.Computed;
using Treepie.Indexes.Definitions;
using Treepie.Indexes.States;
using Treepie.Store;

namespace Treepie.Indexes.Reducing;

/// <summary>
/// Checks that a reduce accepts its own results: some documents are mapped, each result is reduced together with a copy of
/// itself, and reducing the outcome again must give the same, under the same key. For example, a reduce that counts its
/// values fails this check. If there is no document to map, an object whose members are all 1 is used; a reduce that fails
/// on that object is accepted.
/// </summary>
internal static class ReduceCheck
{
    /// <summary>The number of documents of each collection that are checked.</summary>
    private const int MostDocuments = 16;

    /// <exception cref="InvalidIndexDefinitionException">The reduce does not accept its own results.</exception>
    public static void Require(string index, Reduction reduction, DatabaseSnapshot snapshot)
    {
        var host = new MapHost();
        MapOutput mapped = new(), once = new(), twice = new();
        bool hasLooked = false;
        bool mapsDocuments = reduction.Map.Source == IndexSourceType.Documents;
        foreach (string? collection in
            !mapsDocuments ? [] : reduction.Map.Collections.Count == 0 ? [null] : reduction.Map.Collections.Cast<string?>())
        {
            using DocumentCursor cursor = collection is null ? snapshot.ByEtag() : snapshot.ByCollection(collection);
            for (int i = 0; i < MostDocuments && cursor.MoveNext(); i++)
            {
                mapped.Clear();
                try
                {
                    host.Begin(snapshot, cursor.Current);
                    reduction.Map.Map(cursor.Current, host, mapped);
                    for (int result = 0; result < mapped.Count; result++)
                    {
                        Require(index, reduction.Reduce, mapped[result], once, twice);
                        hasLooked = true;
                    }
                }
                catch (ComputationException)
                {
                    // Caused by the values of this document; reported when it is indexed.
                }

                snapshot.ReleasePages();
            }
        }

        if (hasLooked)
            return;
        try
        {
            Require(index, reduction.Reduce, MadeUp(reduction), once, twice);
        }
        catch (ComputationException)
        {
            // The reduce requires other values than these.
        }
    }

    private static ReadOnlyMemory<byte> MadeUp(Reduction reduction)
    {
        var output = new ArrayBufferWriter<byte>();
        using var json = new Utf8JsonWriter(output);
        json.WriteStartObject();
        foreach (string name in reduction.Map.Fields.Select(static field => field.Name).Union(reduction.Reduce.Keys))
            json.WriteNumber(name, 1);
        json.WriteEndObject();
        json.Flush();
        return output.WrittenMemory;
    }

    private static void Require(string index, IndexReduce reduce, ReadOnlyMemory<byte> value, MapOutput once, MapOutput twice)
    {
        once.Clear();
        reduce.Reduce([value, value], once);
        ReadOnlyMemory<byte>[] first = [.. Enumerable.Range(0, once.Count).Select(i => once[i])];
        if (first.Length == 0)
            return;
        byte[] key = ReduceKey.Of(value.Span, reduce.Keys);
        if (first.FirstOrDefault(
            one => !ReduceKey.Of(one.Span, reduce.Keys).AsSpan().SequenceEqual(key)) is { IsEmpty: false } other)
        {
            throw new InvalidIndexDefinitionException(
                index, "Reduce",
                $"it gives a result of another key than that of its group: {Text(value)} becomes {Text(other)}. The members it "
                    + $"groups by ({string.Join(", ", reduce.Keys)}) must be those of the group.");
        }

        twice.Clear();
        reduce.Reduce(first, twice);
        bool isSame = twice.Count == first.Length
            && Enumerable.Range(0, first.Length).All(i => Canonical(twice[i]).SequenceEqual(Canonical(first[i])));
        if (!isSame)
        {
            throw new InvalidIndexDefinitionException(
                index, "Reduce",
                $"what it gives is something else when it is reduced a second time, which it is with whatever comes later: "
                + $"{Text(first[0])} becomes {(twice.Count == 0 ? "nothing" : Text(twice[0]))}. "
                + "Let the map give a 1 to be summed up instead of counting values, and sums instead of averages.");
        }
    }

    private static ReadOnlySpan<byte> Canonical(ReadOnlyMemory<byte> json)
    {
        using JsonDocument value = JsonDocument.Parse(json);
        var output = new ArrayBufferWriter<byte>();
        CanonicalJson.Write(value.RootElement, output);
        return output.WrittenSpan;
    }

    private static string Text(ReadOnlyMemory<byte> json)
    {
        const int Most = 200;
        string text = System.Text.Encoding.UTF8.GetString(json.Span);
        return text.Length <= Most ? text : text[..Most] + "…";
    }
}
