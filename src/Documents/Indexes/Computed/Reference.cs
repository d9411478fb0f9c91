using System.Buffers.Binary;
using System.Security.Cryptography;
using System.Text;
using Treepie.Store;

namespace Treepie.Indexes.Computed;

/// <summary>
/// A reference of a map, as a hash of its kind and folded name: keeps keys short, and a collision would only cause an
/// unnecessary mapping.
/// </summary>
internal static class Reference
{
    public const int Bytes = 16;

    public static UInt128 ToDocument(ReadOnlySpan<byte> foldedId) => Hash((byte)'d', foldedId);

    public static UInt128 ToValue(string key) => Hash((byte)'x', Encoding.UTF8.GetBytes(key.ToLowerInvariant()));

    /// <summary>Returns the reference to the current change of a feed.</summary>
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
