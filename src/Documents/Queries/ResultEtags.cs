using System.Buffers.Binary;
using System.Runtime.InteropServices;
using System.Security.Cryptography;
using System.Text.Json;
using Treepie.Indexes;
using Treepie.Indexing.Queries;
using Treepie.Store;

namespace Treepie.Queries;

/// <summary>
/// A number for an answer: equal when nothing the answer depends on has changed. That is the question, the last change of its
/// collection (of all, where documents are included), and how far an index is that is not up with it.
/// </summary>
internal static class ResultEtags
{
    public static long Of(QueryContext context, DatabaseSnapshot snapshot, DocumentIndex? index, bool isBehind, long indexedEtag = 0)
    {
        string? collection = index is null ? context.Query.Collection : index.Collection;
        bool dependsOnAll = collection is null || context.Query.IncludePaths.Count + context.Query.IncludeIds.Count > 0;
        Span<byte> numbers = stackalloc byte[40];
        BinaryPrimitives.WriteInt64LittleEndian(numbers, dependsOnAll ? snapshot.LastEtag : snapshot.Collection(collection!)?.LastEtag ?? 0); // not null: else it depends on all
        BinaryPrimitives.WriteInt64LittleEndian(numbers[8..], isBehind ? indexedEtag : -1);
        BinaryPrimitives.WriteInt64LittleEndian(numbers[16..], context.Query.Skip);
        BinaryPrimitives.WriteInt64LittleEndian(numbers[24..], context.Query.Take);
        numbers[32] = context.Request.MetadataOnly ? (byte)1 : (byte)0;
        numbers[33] = (byte)context.Request.ProjectionBehavior;

        using var hash = IncrementalHash.CreateHash(HashAlgorithmName.SHA256);
        hash.AppendData(numbers);
        hash.AppendData(MemoryMarshal.AsBytes(context.Request.Text.AsSpan()));
        if (context.Request.Parameters.ValueKind != JsonValueKind.Undefined)
            hash.AppendData(MemoryMarshal.AsBytes(context.Request.Parameters.GetRawText().AsSpan()));
        hash.AppendData(MemoryMarshal.AsBytes((index?.Name ?? "").AsSpan()));

        foreach (SortKey key in context.Query.Sort)
            if (key.Seed is { } seed)
                hash.AppendData(MemoryMarshal.AsBytes(seed.AsSpan())); // without a seed of its own, each run of random() is another question

        Span<byte> result = stackalloc byte[SHA256.HashSizeInBytes];
        hash.GetHashAndReset(result);
        return BinaryPrimitives.ReadInt64LittleEndian(result) & long.MaxValue;
    }
}
