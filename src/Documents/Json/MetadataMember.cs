using System.Text.Json;

namespace Treepie.Json;

/// <summary>Removes a member from minified metadata.</summary>
internal static class MetadataMember
{
    /// <summary>
    /// Returns the metadata without a member: unchanged if it does not have it, empty if it has no other. Allocates only if it
    /// has it.
    /// </summary>
    public static ReadOnlySpan<byte> Without(ReadOnlySpan<byte> metadata, ReadOnlySpan<byte> name)
    {
        if (metadata.IndexOf(name) < 0)
            return metadata;

        var reader = new Utf8JsonReader(metadata, new JsonReaderOptions { MaxDepth = int.MaxValue });
        reader.Read();
        while (reader.Read() && reader.TokenType == JsonTokenType.PropertyName)
        {
            bool isIt = reader.ValueTextEquals(name);
            int start = (int)reader.TokenStartIndex;
            reader.Read();
            reader.Skip();
            if (!isIt)
                continue;

            int end = (int)reader.BytesConsumed;
            if (metadata[end] == (byte)',')
                end++; // the metadata is minified: the comma follows directly
            else if (metadata[start - 1] == (byte)',')
                start--;
            byte[] rest = [.. metadata[..start], .. metadata[end..]];
            return rest.Length > 2 ? rest : [];
        }

        return metadata;
    }
}
