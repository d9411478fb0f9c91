using System.Buffers;
using System.Text.Json;

namespace Treepie.Json;

/// <summary>Creates JSON as bytes.</summary>
internal static class JsonBytes
{
    /// <summary>Returns what a function writes, as minified UTF-8.</summary>
    public static byte[] Of(Action<Utf8JsonWriter> write)
    {
        var output = new ArrayBufferWriter<byte>();
        using var json = new Utf8JsonWriter(output);
        write(json);
        json.Flush();
        return output.WrittenSpan.ToArray();
    }
}
