using System.Text.Json;

namespace Treepie.Json;

/// <summary>Takes a member out of minified metadata.</summary>
internal static class MetadataMember
{
    /// <summary>
    /// The metadata without a member; itself where it has none, empty where it has no other. Allocates only where there is one.
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
                end++; // minified: the comma stands beside it
            else if (metadata[start - 1] == (byte)',')
                start--;
            byte[] rest = [.. metadata[..start], .. metadata[end..]];
            return rest.Length > 2 ? rest : [];
        }

        return metadata;
    }
}
