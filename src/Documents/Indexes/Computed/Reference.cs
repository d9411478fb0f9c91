using System.Buffers.Binary;
using System.Security.Cryptography;
using System.Text;
using Treepie.Store;

namespace Treepie.Indexes.Computed;

/// <summary>
/// What a map has looked at, as a hash of its kind and its folded name: keys stay short, and two that agree by chance would only
/// let a document be mapped once too often.
/// </summary>
internal static class Reference
{
    public const int Bytes = 16;

    public static UInt128 ToDocument(ReadOnlySpan<byte> foldedId) => Hash((byte)'d', foldedId);

    public static UInt128 ToValue(string key) => Hash((byte)'x', Encoding.UTF8.GetBytes(key.ToLowerInvariant()));

    /// <summary>That of the change a feed stands on.</summary>
    public static UInt128 To(MappedChanges feed)
    {
        if (feed.IsValue)
            return ToValue(Encoding.UTF8.GetString(feed.Id));
        Span<byte> folded = stackalloc byte[DocumentId.MaxFoldedBytes];
        return ToDocument(folded[..DocumentId.Fold(feed.Id, folded)]);
    }

    private static UInt128 Hash(byte kind, ReadOnlySpan<byte> name)
    {
        Span<byte> hash = stackalloc byte[SHA256.HashSizeInBytes];
        SHA256.HashData([kind, .. name], hash);
        return BinaryPrimitives.ReadUInt128BigEndian(hash);
    }
}
