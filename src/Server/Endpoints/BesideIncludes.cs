using System.Text.Json;
using Microsoft.Extensions.Primitives;
using Treepie.Kinds;
using Treepie.Server.Http;
using Treepie.Store;

namespace Treepie.Server.Endpoints;

/// <summary>
/// What a load of documents is to bring along that lies beside them: counters, revisions, compare-exchange values, and guards of
/// documents that are not there.
/// </summary>
internal sealed class BesideIncludes(ServerRequest request, DatabaseSnapshot snapshot, IReadOnlyList<string> ids)
{
    private const string AllCounters = "@all_counters";

    private readonly StringValues _counters = request.Parameters("counter");
    private readonly StringValues _keys = request.Parameters("cmpxchg");
    private readonly StringValues _revisions = request.Parameters("revisions");
    private readonly StringValues _revisionsBefore = request.Parameters("revisionsBefore");

    /// <summary>Whether the session is cluster-wide: it is told the indexes of atomic guards.</summary>
    public bool IsClusterWide { get; } = string.Equals(
        request.Parameter("txMode"), "ClusterWide", StringComparison.OrdinalIgnoreCase);

    /// <summary>Whether nothing is to be brought along.</summary>
    public bool IsEmpty =>
        _counters.Count == 0 && _keys.Count == 0 && _revisions.Count == 0 && _revisionsBefore.Count == 0 && !IsClusterWide;

    /// <summary>
    /// Whether a document that is not there has a guard, as one has that was deleted by a batch that was not cluster-wide.
    /// </summary>
    public bool HasGuardOfMissing => IsClusterWide && MissingGuards().Any();

    /// <summary>Writes it as members behind the others.</summary>
    public async Task WriteAsync()
    {
        if (_counters.Count > 0)
            WriteCounters();
        if (_revisions.Count > 0 || _revisionsBefore.Count > 0)
            await WriteRevisionsAsync().ConfigureAwait(false);
        List<(string Key, CompareExchangeValue? Value)> values =
            [.. _keys.Select(key => (key ?? "", snapshot.CompareExchange(key ?? "")))];
        if (IsClusterWide)
            values.AddRange(MissingGuards().Select(static guard => (guard.Key, (CompareExchangeValue?)guard)));
        if (values.Count == 0)
            return;

        ResponseBody output = request.Output;
        output.Write(",\"CompareExchangeValueIncludes\":{"u8);
        for (int i = 0; i < values.Count; i++)
        {
            if (i > 0)
                output.Write(","u8);
            output.WriteString(values[i].Key);
            output.Write(":"u8);
            KindWire.WriteCompareExchange(output, values[i].Key, values[i].Value);
            await output.FlushIfNeededAsync(request.Aborted).ConfigureAwait(false);
        }

        output.Write("}"u8);
    }

    /// <summary>
    /// Revisions by change vectors, which members of the documents hold or the request names, and those of times.
    /// </summary>
    private async Task WriteRevisionsAsync()
    {
        ResponseBody output = request.Output;
        output.Write(",\"RevisionIncludes\":["u8);
        bool first = true;
        foreach ((Revision? revision, DateTime? before) in Revisions())
        {
            if (revision is null)
                continue;
            output.Write(first ? "{\"Id\":"u8 : ",{\"Id\":"u8);
            first = false;
            output.WriteString(revision.Id);
            output.Write(",\"ChangeVector\":"u8);
            output.WriteString(revision.ChangeVector);
            output.Write(",\"Before\":"u8);
            if (before is { } time)
                output.WriteString(WireTime.ToWire(time));
            else
                output.Write("null"u8);
            output.Write(",\"Revision\":"u8);
            revision.WriteTo(output);
            output.Write("}"u8);
            await output.FlushIfNeededAsync(request.Aborted).ConfigureAwait(false);
        }

        output.Write("]"u8);
    }

    private IEnumerable<(Revision? Revision, DateTime? Before)> Revisions()
    {
        foreach (string? path in _revisions)
            foreach (string vector in ids.SelectMany(id => VectorsAt(id, path ?? "")).Distinct(StringComparer.Ordinal))
                yield return (snapshot.RevisionOf(vector), null);
        foreach (string? text in _revisionsBefore)
            foreach (string id in ids.Distinct(StringComparer.OrdinalIgnoreCase))
                yield return (
                    snapshot.RevisionBefore(id, RevisionsEndpoints.TimeOf(text ?? "")), RevisionsEndpoints.TimeOf(text ?? ""));
    }

    /// <summary>The change vectors, one or an array of them, that a member of a document holds.</summary>
    private List<string> VectorsAt(string id, string path)
    {
        if (!snapshot.TryGet(id, out Document document))
            return [];
        using var json = JsonDocument.Parse(
            document.Body.ToArray(), new JsonDocumentOptions { MaxDepth = DatabaseOptions.MostDocumentDepth + 1 });
        JsonElement at = json.RootElement;
        foreach (string name in path.Split('.'))
            if (at.ValueKind != JsonValueKind.Object || !at.TryGetProperty(name, out at))
                return [];
        return at.ValueKind switch
        {
            JsonValueKind.String => [at.GetString() ?? ""],
            JsonValueKind.Array => [
                .. at.EnumerateArray()
                    .Where(static item => item.ValueKind == JsonValueKind.String)
                    .Select(static item => item.GetString() ?? "")],
            _ => [],
        };
    }

    private IEnumerable<CompareExchangeValue> MissingGuards() => ids
        .Where(id => !snapshot.TryGet(id, out Document _))
        .Select(id => snapshot.CompareExchange(CompareExchangeValue.AtomicGuardPrefix + id))
        .OfType<CompareExchangeValue>();

    private void WriteCounters()
    {
        bool all = _counters.Contains(AllCounters);
        ResponseBody output = request.Output;
        output.Write(",\"CounterIncludes\":"u8);
        using (var json = new Utf8JsonWriter(output))
        {
            json.WriteStartObject();
            foreach (string id in ids.Distinct(StringComparer.OrdinalIgnoreCase))
            {
                json.WriteStartArray(id);
                foreach (CounterValue? counter in all
                    ? snapshot.Counters(id)
                    : _counters.Select(name => snapshot.Counter(id, name ?? "")))
                {
                    if (counter is null)
                        json.WriteNullValue();
                    else
                        KindWire.WriteCounter(json, counter, full: false);
                }

                json.WriteEndArray();
            }

            json.WriteEndObject();
        }

        output.Write(",\"IncludedCounterNames\":"u8);
        using (var json = new Utf8JsonWriter(output))
        {
            json.WriteStartObject();
            foreach (string id in ids.Distinct(StringComparer.OrdinalIgnoreCase))
                json.WriteTexts(id, all ? [] : [.. _counters.Select(static name => name ?? "")]);
            json.WriteEndObject();
        }
    }
}
