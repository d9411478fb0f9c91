using System.Buffers;
using System.Buffers.Text;
using System.Security.Cryptography;
using System.Text;
using Treepie.Storage;

namespace Treepie.Encryption;

/// <summary>
/// The formats in which keys are stored: 32 raw bytes, 64 hexadecimal digits or base64, optionally surrounded by white space.
/// A passphrase is text, without a trailing line break.
/// </summary>
internal static class KeyText
{
    /// <summary>The maximum length of a passphrase in bytes; keys are much shorter in any format.</summary>
    public const int MaxBytes = 16 * 1024;

    private const int HexDigits = EncryptionKey.SizeBytes * 2;

    /// <summary>The maximum length of base64 that is decoded to report its length.</summary>
    private const int MaxBase64 = 1024;

    /// <summary>
    /// Reads a key. <paramref name="source"/> names its source in error messages, which never quote the key.
    /// </summary>
    /// <exception cref="KeySourceException">The bytes are not a key; the message says why.</exception>
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
    /// <exception cref="KeySourceException">The bytes are not a passphrase; the message says why.</exception>
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

    /// <summary>Writes a key as base64 with a line break, as read by <see cref="ReadKey"/>.</summary>
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

    /// <summary>
    /// Decodes base64 in either alphabet, with or without padding; returns the number of bytes, or null if it is invalid.
    /// </summary>
    private static int? Decode(ReadOnlySpan<byte> text, Span<byte> decoded)
    {
        if (Base64.DecodeFromUtf8(text, decoded, out _, out int length) == OperationStatus.Done)
            return length;
        return Base64Url.DecodeFromUtf8(text, decoded, out _, out length) == OperationStatus.Done ? length : null;
    }

    /// <summary>
    /// Returns whether bytes are printable ASCII. 32 random bytes are so only about once in 10^13 times: such a file contains
    /// text, and a text of 32 characters is not a key.
    /// </summary>
    private static bool IsText(ReadOnlySpan<byte> bytes) => !bytes.ContainsAnyExceptInRange((byte)' ', (byte)'~');

    private static ReadOnlySpan<byte> Trim(ReadOnlySpan<byte> text) => text.Trim(" \t\r\n"u8);

    /// <summary>Returns the message without the parameter name, which means nothing to the user.</summary>
    private static string WithoutParameter(ArgumentException error)
    {
        int end = error.ParamName is null ? -1 : error.Message.LastIndexOf(" (", StringComparison.Ordinal);
        return end < 0 ? error.Message : error.Message[..end];
    }
}
