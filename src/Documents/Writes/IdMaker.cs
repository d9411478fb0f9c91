using System.Globalization;
using System.Text;
using Treepie.Storage.Transactions;
using Treepie.Storage.Trees;
using Treepie.Store;

namespace Treepie.Writes;

/// <summary>Completes ids that end in <c>/</c> or <c>|</c>.</summary>
internal sealed class IdMaker
{
    /// <summary>
    /// The maximum number of bytes added: 19 digits, a dash and the node's tag; a slash and 19 digits for identities.
    /// </summary>
    public const int MaxAddedBytes = 21;

    private readonly Tree _documents;
    private readonly Tree _identities;

    public IdMaker(WriteTransaction transaction, Tree documents)
    {
        _documents = documents;
        _identities = transaction.GetOrCreateTree(TreeNames.Identities);
    }

    /// <summary>
    /// Completes <c>users/</c> to <c>users/0000000000000000042-A</c>. The number is an etag, which is unique; if a client has
    /// already used that id explicitly, etags are skipped until one is free.
    /// </summary>
    public string ServerSide(string prefix, ref long etag)
    {
        etag = FirstFree(etag, IdOf);
        return IdOf(etag);

        string IdOf(long number) => string.Create(CultureInfo.InvariantCulture, $"{prefix}{number:D19}-{ChangeVectors.NodeTag}");
    }

    /// <summary>
    /// Completes <c>users|</c> to <c>users/7</c>, if 6 was the last number assigned; numbers in use are skipped.
    /// </summary>
    public string Identity(string name)
    {
        string prefix = name[..^1].TrimEnd('/') + "/";
        long value = FirstFree(Read(name) + 1, IdOf);
        Write(name, value);
        return IdOf(value);

        string IdOf(long number) => prefix + number.ToString(CultureInfo.InvariantCulture);
    }

    /// <summary>Returns the name of an identity in its stored form: with the <c>|</c> at its end.</summary>
    /// <exception cref="InvalidDocumentException">The name is not valid in an id.</exception>
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

    /// <summary>Returns the next number of an identity.</summary>
    public long NextIdentity(string name)
    {
        long value = Read(name) + 1;
        Write(name, value);
        return value;
    }

    /// <summary>Sets an identity and returns its resulting value; decreases it only if forced.</summary>
    public long SeedIdentity(string name, long value, bool force)
    {
        long current = Read(name);
        if (!force && value <= current)
            return current;
        Write(name, value);
        return value;
    }

    private long Read(string name) =>
        _identities.TryGet(CollectionName.Fold(name), out ReadOnlySpan<byte> value)
            ? new IdentityRecord(value).Value
            : 0;

    private void Write(string name, long value)
    {
        byte[] utf8 = Encoding.UTF8.GetBytes(name);
        IdentityRecord.Write(_identities.Reserve(CollectionName.Fold(utf8), IdentityRecord.SizeOf(utf8.Length)), value, utf8);
    }

    /// <summary>
    /// Returns the first number from one on whose id is free: in growing steps to a free one, then by bisection. So a million
    /// explicitly used ids cost twenty or forty lookups, not a million.
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
