using System.Buffers;
using System.Buffers.Text;
using System.Security.Cryptography;
using System.Text;
using Treepie.Storage;

namespace Treepie.Encryption;

/// <summary>
/// What a key looks like where people keep it: 32 bytes as they are, or as text, 64 hexadecimal digits or base64, with white
/// space around. And a passphrase, which is text without the line's end after it.
/// </summary>
internal static class KeyText
{
    /// <summary>Bytes of the longest passphrase; a key in any form is far shorter.</summary>
    public const int MaxBytes = 16 * 1024;

    private const int HexDigits = EncryptionKey.SizeBytes * 2;

    /// <summary>The longest base64 that is still worth decoding to say how long it is.</summary>
    private const int MaxBase64 = 1024;

    /// <summary>Reads a key. <paramref name="source"/> names where it came from, for messages, which never quote it.</summary>
    /// <exception cref="KeySourceException">It is none; says why.</exception>
    public static EncryptionKey ReadKey(ReadOnlySpan<byte> found, string source)
    {
        if (found.Length == EncryptionKey.SizeBytes && !IsText(found))
            return Make(found, source);

        ReadOnlySpan<byte> text = Trim(found);
        if (text.IsEmpty)
            throw new KeySourceException($"{source} is empty. {WhatIsWanted}");

        Span<byte> decoded = stackalloc byte[MaxBase64];
        try
        {
            if (text.Length == HexDigits && Convert.FromHexString(text, decoded, out _, out int hexBytes) == OperationStatus.Done)
                return Make(decoded[..hexBytes], source);

            return Decode(text, decoded) is { } length
                ? Make(decoded[..length], source)
                : throw new KeySourceException(
                    $"{source} holds {found.Length:N0} bytes that are no key: neither {EncryptionKey.SizeBytes} random bytes, "
                        + $"nor base64, nor hexadecimal digits. {WhatIsWanted}");
        }
        finally
        {
            CryptographicOperations.ZeroMemory(decoded);
        }
    }

    /// <summary>Reads a passphrase.</summary>
    /// <exception cref="KeySourceException">It is none; says why.</exception>
    public static EncryptionKey ReadPassphrase(ReadOnlySpan<byte> found, string source)
    {
        ReadOnlySpan<byte> text = found;
        if (text.EndsWith("\n"u8))
            text = text[..^1];
        if (text.EndsWith("\r"u8))
            text = text[..^1];
        if (text.IsEmpty)
            throw new KeySourceException(
                $"{source} is empty. A passphrase has at least {EncryptionKey.MinPassphraseLength} characters.");

        char[] characters = GC.AllocateArray<char>(text.Length, pinned: true);
        try
        {
            if (Encoding.UTF8.TryGetChars(text, characters, out int length) && !characters.AsSpan(0, length).Contains('\uFFFD'))
                return EncryptionKey.FromPassphrase(characters.AsSpan(0, length));
            throw new KeySourceException(
                $"{source} is not UTF-8, as the text of a passphrase must be. If it is a key, say so: without 'passphrase-' "
                    + $"before the source.");
        }
        catch (ArgumentException error)
        {
            throw new KeySourceException($"{source}: {WithoutParameter(error)}");
        }
        finally
        {
            Array.Clear(characters);
        }
    }

    /// <summary>A key as its sources read it, base64 with a line's end.</summary>
    public static void Write(EncryptionKey key, IBufferWriter<byte> output)
    {
        Span<byte> bytes = stackalloc byte[EncryptionKey.SizeBytes];
        key.CopyTo(bytes);
        Span<byte> text = output.GetSpan(Base64.GetMaxEncodedToUtf8Length(EncryptionKey.SizeBytes) + 1);
        Base64.EncodeToUtf8(bytes, text, out _, out int length);
        text[length] = (byte)'\n';
        output.Advance(length + 1);
        CryptographicOperations.ZeroMemory(bytes);
    }

    private static string WhatIsWanted =>
        $"A key is {EncryptionKey.SizeBytes} random bytes, raw, in base64 or as {HexDigits} hexadecimal digits; 'treepie key "
            + $"generate <file>' makes one.";

    private static EncryptionKey Make(ReadOnlySpan<byte> bytes, string source)
    {
        if (bytes.Length != EncryptionKey.SizeBytes)
            throw new KeySourceException(
                $"{source} holds a key of {bytes.Length} bytes; a key has {EncryptionKey.SizeBytes}. {WhatIsWanted}");
        try
        {
            return EncryptionKey.FromBytes(bytes);
        }
        catch (ArgumentException error)
        {
            throw new KeySourceException($"{source}: {WithoutParameter(error)}");
        }
    }

    /// <summary>Bytes of a base64 text, padded or not, in either alphabet; null where it is none.</summary>
    private static int? Decode(ReadOnlySpan<byte> text, Span<byte> decoded)
    {
        if (Base64.DecodeFromUtf8(text, decoded, out _, out int length) == OperationStatus.Done)
            return length;
        return Base64Url.DecodeFromUtf8(text, decoded, out _, out length) == OperationStatus.Done ? length : null;
    }

    /// <summary>
    /// 32 random bytes are letters, digits and signs throughout once in 10^13 times: such a file holds text, and a text of 32
    /// characters is no key.
    /// </summary>
    private static bool IsText(ReadOnlySpan<byte> bytes) => !bytes.ContainsAnyExceptInRange((byte)' ', (byte)'~');

    private static ReadOnlySpan<byte> Trim(ReadOnlySpan<byte> text) => text.Trim(" \t\r\n"u8);

    /// <summary>The message without the name of a parameter that the caller's caller never saw.</summary>
    private static string WithoutParameter(ArgumentException error)
    {
        int end = error.ParamName is null ? -1 : error.Message.LastIndexOf(" (", StringComparison.Ordinal);
        return end < 0 ? error.Message : error.Message[..end];
    }
}
