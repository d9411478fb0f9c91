using System.Buffers.Binary;
using System.Diagnostics;

namespace Treepie.Indexing.Catalogue;

/// <summary>Lists of entries that do not belong to a term.</summary>
internal enum ListKind : byte
{
    /// <summary>Every entry; belongs to no field.</summary>
    All = 0,

    /// <summary>Entries that have the field, even as a null.</summary>
    Exists = 1,

    /// <summary>Entries in which the field has an explicit null.</summary>
    Null = 2,
}

/// <summary>Keys of the dictionary <see cref="TreeNames.Lists"/>.</summary>
internal static class ListKey
{
    public const int Bytes = 5;

    /// <summary>Writes the key; <paramref name="field"/> is -1 for <see cref="ListKind.All"/>.</summary>
    public static ReadOnlySpan<byte> Write(Span<byte> output, int field, ListKind kind)
    {
        Debug.Assert(field >= -1 && (field == -1) == (kind == ListKind.All), "only the list of all entries has no field");
        BinaryPrimitives.WriteInt32BigEndian(output, field + 1);
        output[4] = (byte)kind;
        return output[..Bytes];
    }
}
