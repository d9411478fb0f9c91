using System.Buffers;
using System.Buffers.Binary;
using System.Runtime.InteropServices;
using System.Security.Cryptography;
using System.Text.Json;
using Treepie.Indexes;
using Treepie.Indexing.Queries;
using Treepie.Queries.Binding;
using Treepie.Queries.Sorters;
using Treepie.Store;

namespace Treepie.Queries;

/// <summary>
/// Computes the etag of a result, which changes when something that the result depends on changes: the request, the last change
/// of the collection (of the database, if the result or its index reads other data), and the progress of an index that lags
/// behind.
/// </summary>
internal static class ResultEtags
{
    private const int FigureBytes = 40;

    public static long Of(QueryContext context, DatabaseSnapshot snapshot, IndexAnswer? answer)
    {
        DocumentIndex? index = answer?.Index;
        string? collection = CollectionOf(context.Query, index);
        ReadOnlySpan<byte> text = MemoryMarshal.AsBytes(context.Request.Text.AsSpan()),
            name = MemoryMarshal.AsBytes((index?.Folder ?? "").AsSpan()); // the folder, as a rebuilt index keeps its name
        ReadOnlySpan<byte> parameters = context.Request.Parameters.ValueKind == JsonValueKind.Undefined
            ? default
            : JsonMarshal.GetRawUtf8Value(context.Request.Parameters);
        ReadOnlySpan<byte> continuation = MemoryMarshal.AsBytes((context.Request.Continuation ?? "").AsSpan());
        int orders = OrderBytes(context.Query);
        byte[] question = ArrayPool<byte>.Shared.Rent(
            FigureBytes + text.Length + parameters.Length + name.Length + continuation.Length + orders);
        Span<byte> figures = question.AsSpan(0, FigureBytes);
        figures.Clear();
        BinaryPrimitives.WriteInt64LittleEndian(
            figures, collection is null ? snapshot.LastEtag : snapshot.Collection(collection)?.LastEtag ?? 0);
        BinaryPrimitives.WriteInt64LittleEndian(figures[8..], answer is { MayMissHits: true } ? answer.Etag : -1);
        BinaryPrimitives.WriteInt64LittleEndian(figures[16..], context.Query.Skip);
        BinaryPrimitives.WriteInt64LittleEndian(figures[24..], context.Query.Take);
        figures[32] = Flags(
            context.Request.MetadataOnly, context.Request.IndexEntries, context.Request.CountsResults,
            context.Request.WithContinuation || context.Request.Continuation is not null, context.Query.WantsTimings,
            answer is { IsStale: true }, context.Request.SkipDuplicateChecking);
        figures[33] = (byte)context.Request.ProjectionBehavior;
        if (context.Query.Script is not null || answer is { IsWhole: false })
            // a script may read loaded documents, counters or the clock, and a field that is being added to an index gets values
            // without a change of documents, so no two runs share an etag
            BinaryPrimitives.WriteInt64LittleEndian(figures[8..], context.Started);
        int length = FigureBytes;
        Add(text, question, ref length);
        Add(parameters, question, ref length);
        Add(name, question, ref length);
        Add(continuation, question, ref length);
        if (orders > 0)
        {
            foreach (SortKey key in context.Query.Sort)
                Add(MemoryMarshal.AsBytes(OrderOf(key).AsSpan()), question, ref length);
        }

        Span<byte> result = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(question.AsSpan(0, length), result);
        ArrayPool<byte>.Shared.Return(question);
        return BinaryPrimitives.ReadInt64LittleEndian(result) & long.MaxValue;
    }

    /// <summary>
    /// Returns the collection of all documents that a result depends on; null if it may depend on others, or on other data.
    /// </summary>
    public static string? CollectionOf(BoundQuery query, DocumentIndex? index) =>
        query.ReadsBeside
        || index is { Definition.HasReferences: true }
        || query.IncludePaths.Count + query.IncludeIds.Count > 0
            ? null
            : index is null ? query.Collection : index.Collection;

    private static byte Flags(params ReadOnlySpan<bool> options)
    {
        int flags = 0;
        for (int i = 0; i < options.Length; i++)
            flags |= (options[i] ? 1 : 0) << i;
        return (byte)flags;
    }

    /// <summary>
    /// Returns what an order depends on besides the text of the query: a seed, of which random() without one gets a new one in
    /// each run, or the definition of a sorter.
    /// </summary>
    private static string? OrderOf(SortKey key) => key.Seed ?? (key.Custom as DefinedOrder)?.Code;

    private static int OrderBytes(BoundQuery query)
    {
        int bytes = 0;
        foreach (SortKey key in query.Sort)
            bytes += sizeof(char) * (OrderOf(key)?.Length ?? 0);
        return bytes;
    }

    private static void Add(ReadOnlySpan<byte> part, Span<byte> question, ref int length)
    {
        part.CopyTo(question[length..]);
        length += part.Length;
    }
}
