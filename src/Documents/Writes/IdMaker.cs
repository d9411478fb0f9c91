using System.Globalization;
using System.Text;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Store;

namespace Treepie.Writes;

/// <summary>Completes the ids that the database is asked to complete.</summary>
internal sealed class IdMaker
{
    /// <summary>Most bytes added: 19 digits, a dash and the node's tag; a slash and 19 digits for identities.</summary>
    public const int MaxAddedBytes = 21;

    private readonly Tree _documents;
    private readonly Tree _identities;

    public IdMaker(WriteTransaction transaction, Tree documents)
    {
        _documents = documents;
        _identities = transaction.GetOrCreateTree(TreeNames.Identities);
    }

    /// <summary>
    /// <c>users/</c> becomes <c>users/0000000000000000042-A</c>. The number is an etag, which nothing else ever has; where
    /// somebody has written that id by hand, etags are passed over until one is free.
    /// </summary>
    public string ServerSide(string prefix, ref long etag)
    {
        etag = FirstFree(etag, IdOf);
        return IdOf(etag);

        string IdOf(long number) => string.Create(CultureInfo.InvariantCulture, $"{prefix}{number:D19}-{ChangeVectors.NodeTag}");
    }

    /// <summary>
    /// <c>users|</c> becomes <c>users/7</c>, if 6 was the last number given; numbers that are taken are passed over.
    /// </summary>
    public string Identity(string name)
    {
        string prefix = name[..^1].TrimEnd('/') + "/";
        long value = FirstFree(Read(name) + 1, IdOf);
        Write(name, value);
        return IdOf(value);

        string IdOf(long number) => prefix + number.ToString(CultureInfo.InvariantCulture);
    }

    /// <summary>The name of an identity as it is kept: with the <c>|</c> at its end.</summary>
    /// <exception cref="InvalidDocumentException">It cannot be part of an id.</exception>
    public static string IdentityName(string name, int maxIdBytes)
    {
        ArgumentNullException.ThrowIfNull(name);
        string identity = name.EndsWith('|') ? name : name + "|";
        int length = DocumentId.Encode(identity, maxIdBytes).Length;
        return identity.Length > 1 && length + MaxAddedBytes <= maxIdBytes
            ? identity
            : throw new InvalidDocumentException(
                $"'{name}' cannot be an identity: it is empty, or leaves no room for a number within {maxIdBytes} bytes "
                    + $"(MaxIdBytes).");
    }

    /// <summary>The next number of an identity.</summary>
    public long NextIdentity(string name)
    {
        long value = Read(name) + 1;
        Write(name, value);
        return value;
    }

    /// <summary>Sets an identity; never backwards unless forced. Returns what it is then.</summary>
    public long SeedIdentity(string name, long value, bool force)
    {
        long current = Read(name);
        if (!force && value <= current)
            return current;
        Write(name, value);
        return value;
    }

    private long Read(string name) =>
        _identities.TryGet(CollectionName.Fold(Encoding.UTF8.GetBytes(name)), out ReadOnlySpan<byte> value)
            ? new IdentityRecord(value).Value
            : 0;

    private void Write(string name, long value)
    {
        byte[] utf8 = Encoding.UTF8.GetBytes(name);
        IdentityRecord.Write(_identities.Reserve(CollectionName.Fold(utf8), IdentityRecord.SizeOf(utf8.Length)), value, utf8);
    }

    /// <summary>
    /// A number from one on whose id is free: in growing steps to a free one, then halving back to where the taken ones end. So a
    /// million ids written by hand cost twenty look-ups or forty, not a million.
    /// </summary>
    private long FirstFree(long from, Func<long, string> idOf)
    {
        if (!Exists(idOf(from)))
            return from;

        long taken = from;
        long step = 1;
        while (Exists(idOf(checked(taken + step))))
        {
            taken += step;
            step *= 2;
        }

        long free = taken + step;
        while (free - taken > 1)
        {
            long middle = taken + ((free - taken) / 2);
            if (Exists(idOf(middle)))
                taken = middle;
            else
                free = middle;
        }

        return free;
    }

    private bool Exists(string id)
    {
        Span<byte> folded = stackalloc byte[DocumentId.MaxFoldedBytes];
        return DocumentId.TryFold(id, folded, out int length) && _documents.Contains(folded[..length]);
    }
}
