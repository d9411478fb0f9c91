using System.Buffers;
using System.Security.Cryptography;
using System.Text.Json;
using Treepie.Indexes.States;

namespace Treepie.Indexes.Reducing;

/// <summary>
/// The key of a group as prefix-free bytes: equal for values that are equal as JSON, case-sensitive. Short keys contain the
/// values themselves, long ones a hash.
/// <code>
/// OFFSET SIZE MEANING
///      0    1 1: values follow, 2: a hash follows
///      1    V canonical JSON array of the values, at most 64 bytes, and 0; or their SHA-256
/// </code>
/// </summary>
internal static class ReduceKey
{
    private const int MostPlainBytes = 64;

    /// <summary>Returns the key of an object.</summary>
    /// <param name="json">A JSON object.</param>
    /// <param name="members">The members whose values form the key; a missing one counts as null.</param>
    public static byte[] Of(ReadOnlySpan<byte> json, IReadOnlyList<string> members)
    {
        var values = new ArrayBufferWriter<byte>();
        values.Write("["u8);
        for (int i = 0; i < members.Count; i++)
        {
            if (i > 0)
                values.Write(","u8);
            CanonicalJson.Write(MemberOf(json, members[i]), values);
        }

        values.Write("]"u8);
        return OfValues(values.WrittenSpan);
    }

    private static ReadOnlySpan<byte> MemberOf(ReadOnlySpan<byte> json, string name)
    {
        var reader = new Utf8JsonReader(json, new JsonReaderOptions { MaxDepth = CanonicalJson.MaxDepth });
        ReadOnlySpan<byte> value = "null"u8;
        reader.Read();
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            bool isWanted = reader.ValueTextEquals(name);
            reader.Read();
            int start = (int)reader.TokenStartIndex;
            reader.Skip();
            if (isWanted)
                value = json[start..(int)reader.BytesConsumed]; // of duplicate names, the last counts
        }

        return value;
    }

    private static byte[] OfValues(ReadOnlySpan<byte> values) =>
        values.Length <= MostPlainBytes ? [1, .. values, 0] : [2, .. SHA256.HashData(values)];
}
