using System.Buffers;
using System.Buffers.Binary;
using System.Runtime.InteropServices;
using System.Security.Cryptography;
using System.Text.Json;
using Treepie.Indexes;
using Treepie.Indexing.Queries;
using Treepie.Queries.Binding;
using Treepie.Store;

namespace Treepie.Queries;

/// <summary>
/// Computes the etag of a result, which changes when something that the result depends on changes: the request, the last change
/// of the collection (of the database, if documents or other data are included), and the progress of an index that lags behind.
/// </summary>
internal static class ResultEtags
{
    private const int FigureBytes = 40;

    public static long Of(QueryContext context, DatabaseSnapshot snapshot, IndexAnswer? answer)
    {
        DocumentIndex? index = answer?.Index;
        string? collection = index is null ? context.Query.Collection : index.Collection;
        bool dependsOnAll = collection is null
            || context.Query.ReadsBeside
            || context.Query.IncludePaths.Count + context.Query.IncludeIds.Count > 0;
        ReadOnlySpan<byte> text = MemoryMarshal.AsBytes(context.Request.Text.AsSpan()),
            name = MemoryMarshal.AsBytes((index?.Folder ?? "").AsSpan()); // the folder, as a rebuilt index keeps its name
        ReadOnlySpan<byte> parameters = context.Request.Parameters.ValueKind == JsonValueKind.Undefined
            ? default
            : JsonMarshal.GetRawUtf8Value(context.Request.Parameters);
        int seeds = SeedBytes(context.Query);
        byte[] question = ArrayPool<byte>.Shared.Rent(FigureBytes + text.Length + parameters.Length + name.Length + seeds);
        Span<byte> figures = question.AsSpan(0, FigureBytes);
        figures.Clear();
        // not null: otherwise dependsOnAll is set
        BinaryPrimitives.WriteInt64LittleEndian(
            figures, dependsOnAll ? snapshot.LastEtag : snapshot.Collection(collection!)?.LastEtag ?? 0);
        BinaryPrimitives.WriteInt64LittleEndian(figures[8..], answer is { MayMissHits: true } ? answer.Etag : -1);
        BinaryPrimitives.WriteInt64LittleEndian(figures[16..], context.Query.Skip);
        BinaryPrimitives.WriteInt64LittleEndian(figures[24..], context.Query.Take);
        figures[32] = context.Request.MetadataOnly ? (byte)1 : (byte)0;
        figures[33] = (byte)context.Request.ProjectionBehavior;
        figures[34] = context.Request.CountsResults ? (byte)1 : (byte)0;
        if (context.Query.Script is not null)
            // a script may read loaded documents, counters or the clock, so no two runs share an etag
            BinaryPrimitives.WriteInt64LittleEndian(figures[8..], context.Started);
        int length = FigureBytes;
        Add(text, question, ref length);
        Add(parameters, question, ref length);
        Add(name, question, ref length);
        if (seeds > 0)
        {
            foreach (SortKey key in context.Query.Sort)
                // random() without a seed gets a new one in each run, and so another etag
                Add(MemoryMarshal.AsBytes(key.Seed.AsSpan()), question, ref length);
        }

        Span<byte> result = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData(question.AsSpan(0, length), result);
        ArrayPool<byte>.Shared.Return(question);
        return BinaryPrimitives.ReadInt64LittleEndian(result) & long.MaxValue;
    }

    private static int SeedBytes(BoundQuery query)
    {
        int bytes = 0;
        foreach (SortKey key in query.Sort)
            bytes += sizeof(char) * (key.Seed?.Length ?? 0);
        return bytes;
    }

    private static void Add(ReadOnlySpan<byte> part, Span<byte> question, ref int length)
    {
        part.CopyTo(question[length..]);
        length += part.Length;
    }
}
