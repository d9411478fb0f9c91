using Treepie.Kinds;
using Treepie.Writes;

namespace Treepie.Backups;

/// <summary>
/// The identities and related data that an import has read and not yet written: one commit writes up to 256 of them, or 1 MiB, in
/// their order. They are counted when they are durable, so that the counts are true wherever an import ends.
/// </summary>
internal sealed class ImportBatch(Database database, BulkInsert insert, SectionCounts counts)
{
    private const int MaxItems = 256, MaxBytes = 1024 * 1024;

    private readonly List<(string Section, Func<DocumentWriter, bool> Write)> _items = [];
    private long _bytes;

    /// <summary>Adds a value of an identity; a lower one than that of the database changes nothing.</summary>
    public ValueTask AddAsync(string section, string identity, long value, CancellationToken cancellationToken) => AddAsync(
        section,
        writer =>
        {
            writer.Ids.SeedIdentity(IdMaker.IdentityName(identity, database.Options.MaxIdBytes), value, force: false);
            return true;
        },
        identity.Length, cancellationToken);

    /// <summary>Adds an item, whose document may still be in the buffer of the bulk insert.</summary>
    public ValueTask AddAsync(string section, RestoreKindCommand command, int bytes, CancellationToken cancellationToken) =>
        AddAsync(section, writer => ((RestoredResult)command.Apply(writer)).IsTaken, bytes, cancellationToken);

    /// <summary>Writes and counts what was added. If an item is damaged, those before it are written.</summary>
    /// <exception cref="BackupException">An item is damaged.</exception>
    public async Task FlushAsync(CancellationToken cancellationToken)
    {
        if (_items.Count == 0)
            return;
        (string Section, Func<DocumentWriter, bool> Write)[] items = [.. _items];
        _items.Clear(); // whatever happens: what fails once is not tried again
        _bytes = 0;
        await insert.FlushAsync(cancellationToken).ConfigureAwait(false);
        try
        {
            await WriteAsync(items, cancellationToken).ConfigureAwait(false);
        }
        catch (Exception error) when (items.Length > 1 && IsOfItem(error))
        {
            foreach ((string, Func<DocumentWriter, bool>) item in items)
                await WriteAsync([item], cancellationToken).ConfigureAwait(false);
        }
    }

    /// <summary>Whether an error comes of the bytes of an item, not of the database that takes it.</summary>
    private static bool IsOfItem(Exception error) =>
        error is ArgumentException or ArithmeticException or FormatException or IndexOutOfRangeException or InvalidDataException
            or InvalidDocumentException;

    private async Task WriteAsync(
        (string Section, Func<DocumentWriter, bool> Write)[] items, CancellationToken cancellationToken)
    {
        try
        {
            bool[] taken = await database.WriteAsync(
                (writer, _) =>
                {
                    bool[] each = [.. items.Select(item => item.Write(writer))];
                    writer.Save();
                    return each;
                },
                cancellationToken).ConfigureAwait(false);
            for (int i = 0; i < taken.Length; i++)
                counts.Count(items[i].Section, taken[i] ? DumpItemFate.Taken : DumpItemFate.LeftOut);
        }
        catch (Exception error) when (items is [var only] && IsOfItem(error))
        {
            throw new BackupException(
                BackupFault.Damaged,
                $"The backup is damaged: an item of '{only.Section}' cannot be stored ({error.Message}). Take another copy.",
                error);
        }
    }

    private ValueTask AddAsync(string section, Func<DocumentWriter, bool> write, int bytes, CancellationToken cancellationToken)
    {
        _items.Add((section, write));
        _bytes += bytes;
        return _items.Count >= MaxItems || _bytes >= MaxBytes
            ? new ValueTask(FlushAsync(cancellationToken))
            : ValueTask.CompletedTask;
    }
}
