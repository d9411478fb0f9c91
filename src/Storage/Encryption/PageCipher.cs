using System.Buffers.Binary;
using System.Diagnostics;
using Treepie.Storage.Format;

namespace Treepie.Storage.Encryption;

/// <summary>
/// Encrypts and decrypts pages. The header stays readable and is the associated data, with tag and checksum as 0; the rest is
/// encrypted, an overflow run as a whole. The nonce is birth and page number, 6 bytes each, so a page in the wrong place is
/// not authentic. For one thread at a time.
/// </summary>
internal sealed class PageCipher(StoreCipher store) : IDisposable
{
    /// <summary>
    /// The number of keys cached: each opening for writing has its own, and pages of many openings are mixed in the file.
    /// </summary>
    private const int KeptKeys = 16;

    private readonly (ulong Incarnation, AesGcmSeal? Seal)[] _seals = new (ulong, AesGcmSeal?)[KeptKeys];

    /// <summary>
    /// Encrypts a page, or a run starting at its first page, for the current incarnation. Sets all of its header except the
    /// checksum.
    /// </summary>
    /// <param name="plain">The page or run, a multiple of the page size.</param>
    /// <param name="sealedPages">The destination, of the same length, in different memory.</param>
    public void Seal(ReadOnlySpan<byte> plain, Span<byte> sealedPages)
    {
        Debug.Assert(
            plain.Length == sealedPages.Length && plain.Length % PageLayout.SizeBytes == 0, "whole pages are sealed");
        ulong incarnation = store.Incarnation;
        Span<byte> head = sealedPages[..PageLayout.HeaderBytes];
        plain[..PageLayout.HeaderBytes].CopyTo(head);
        var page = new Page(head)
        {
            Checksum = 0,
            Tag = 0,
            Incarnation = incarnation,
        };
        Span<byte> nonce = stackalloc byte[AesGcmSeal.NonceBytes];
        WriteNonce(page, nonce);
        Span<byte> tag = stackalloc byte[AesGcmSeal.TagBytes];
        SealOf(incarnation).Seal(nonce, head, plain[PageLayout.HeaderBytes..], sealedPages[PageLayout.HeaderBytes..], tag);
        page.Tag = BinaryPrimitives.ReadUInt128LittleEndian(tag);
    }

    /// <summary>
    /// Decrypts the output of <see cref="Seal"/>. Returns false and zeroes the rest after the header if it is not authentic.
    /// </summary>
    public bool TryOpen(ReadOnlySpan<byte> sealedPages, Span<byte> plain)
    {
        Debug.Assert(plain.Length == sealedPages.Length, "a sealed page is as long as its content");
        sealedPages[..PageLayout.HeaderBytes].CopyTo(plain);
        Span<byte> head = stackalloc byte[PageLayout.HeaderBytes];
        sealedPages[..PageLayout.HeaderBytes].CopyTo(head);
        Span<byte> tag = stackalloc byte[AesGcmSeal.TagBytes];
        var page = new Page(head);
        BinaryPrimitives.WriteUInt128LittleEndian(tag, page.Tag);
        page.Checksum = 0;
        page.Tag = 0;
        if (!store.Keys.Has(page.Incarnation))
        {
            plain[PageLayout.HeaderBytes..].Clear();
            return false;
        }

        Span<byte> nonce = stackalloc byte[AesGcmSeal.NonceBytes];
        WriteNonce(page, nonce);
        return SealOf(page.Incarnation)
            .TryOpen(nonce, head, sealedPages[PageLayout.HeaderBytes..], tag, plain[PageLayout.HeaderBytes..]);
    }

    public void Dispose()
    {
        foreach ((_, AesGcmSeal? seal) in _seals)
            seal?.Dispose();
    }

    private static void WriteNonce(Page page, Span<byte> nonce)
    {
        Span<byte> number = stackalloc byte[sizeof(long)];
        BinaryPrimitives.WriteInt64LittleEndian(number, page.Birth);
        number[..6].CopyTo(nonce);
        BinaryPrimitives.WriteInt64LittleEndian(number, page.Number);
        number[..6].CopyTo(nonce[6..]);
    }

    private AesGcmSeal SealOf(ulong incarnation)
    {
        ref (ulong Incarnation, AesGcmSeal? Seal) kept = ref _seals[(int)((incarnation >> 1) % KeptKeys)];
        if (kept.Incarnation == incarnation && kept.Seal is not null)
            return kept.Seal;

        kept.Seal?.Dispose();
        kept = (incarnation, store.NewSeal(incarnation, "page"u8));
        return kept.Seal!;
    }
}
