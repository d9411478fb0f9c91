using System.Buffers;
using System.Buffers.Binary;
using System.Buffers.Text;
using System.Text;
using Treepie.Json;

namespace Treepie.Store;

/// <summary>
/// The value of an attachment: 32 SHA-256 of its content, 8 length of the content (little-endian), content type in UTF-8.
/// </summary>
internal readonly ref struct AttachmentRecord(ReadOnlySpan<byte> value)
{
    private const int HeaderBytes = ContentRecord.HashBytes + sizeof(long);
    private const int HashTextBytes = 44;

    private readonly ReadOnlySpan<byte> _value = value;

    public ReadOnlySpan<byte> Hash => _value[..ContentRecord.HashBytes];

    public long SizeBytes => BinaryPrimitives.ReadInt64LittleEndian(_value[ContentRecord.HashBytes..]);

    public ReadOnlySpan<byte> ContentType => _value[HeaderBytes..];

    public static byte[] Encode(ReadOnlySpan<byte> hash, long sizeBytes, string contentType)
    {
        byte[] value = new byte[HeaderBytes + Encoding.UTF8.GetByteCount(contentType)];
        hash.CopyTo(value);
        BinaryPrimitives.WriteInt64LittleEndian(value.AsSpan(ContentRecord.HashBytes), sizeBytes);
        Encoding.UTF8.GetBytes(contentType, value.AsSpan(HeaderBytes));
        return value;
    }

    /// <summary>Writes the attachment in the form used in metadata.</summary>
    public static void WriteJson(IBufferWriter<byte> output, KindRecord record)
    {
        var attachment = new AttachmentRecord(record.Value);
        WriteJson(output, record.Name, attachment.Hash, attachment.ContentType, attachment.SizeBytes);
    }

    /// <summary>Writes an attachment in the form used in metadata, from its parts.</summary>
    public static void WriteJson(
        IBufferWriter<byte> output, ReadOnlySpan<byte> name, ReadOnlySpan<byte> hash, ReadOnlySpan<byte> contentType,
        long sizeBytes)
    {
        Span<byte> text = stackalloc byte[HashTextBytes];
        Base64.EncodeToUtf8(hash, text, out _, out _);
        output.Write("{\"Name\":"u8);
        JsonStrings.Write(output, name);
        output.Write(",\"Hash\":\""u8);
        output.Write(text);
        output.Write("\",\"ContentType\":"u8);
        JsonStrings.Write(output, contentType);
        output.Write(",\"Size\":"u8);
        Utf8Formatter.TryFormat(sizeBytes, text, out int written);
        output.Write(text[..written]);
        output.Write("}"u8);
    }
}
