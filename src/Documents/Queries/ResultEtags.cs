using System.Buffers;
using System.Buffers.Binary;
using System.Runtime.InteropServices;
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

        ulong result = Hash(question.AsSpan(0, length));
        ArrayPool<byte>.Shared.Return(question);
        return (long)(result & long.MaxValue);
    }

    /// <summary>
    /// Hashes by multiplication. The etag is only compared with those of earlier answers to the same client, so it need not
    /// withstand somebody who looks for two requests with the same hash.
    /// </summary>
    private static ulong Hash(ReadOnlySpan<byte> bytes)
    {
        ulong hash = Mix((ulong)bytes.Length);
        for (; bytes.Length >= sizeof(ulong); bytes = bytes[sizeof(ulong)..])
            hash = Mix(hash ^ BinaryPrimitives.ReadUInt64LittleEndian(bytes));
        Span<byte> rest = stackalloc byte[sizeof(ulong)];
        rest.Clear();
        bytes.CopyTo(rest);
        return Mix(hash ^ BinaryPrimitives.ReadUInt64LittleEndian(rest));
    }

    /// <summary>A permutation of the 64-bit numbers in which each bit of the input changes half of those of the output.</summary>
    private static ulong Mix(ulong value)
    {
        // The constants and shifts are those of MurmurHash3's finalizer, after an addition that moves 0.
        value += 0x9E3779B97F4A7C15;
        value = (value ^ (value >> 33)) * 0xFF51AFD7ED558CCD;
        value = (value ^ (value >> 33)) * 0xC4CEB9FE1A85EC53;
        return value ^ (value >> 33);
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
