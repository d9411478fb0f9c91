using System.CommandLine;
using Treepie.CommandLine.Keys;
using Treepie.Encryption;

namespace Treepie.CommandLine.Offline;

/// <summary>The key options of a command that works on the files of a stopped server.</summary>
internal sealed class OfflineKeyOptions
{
    private readonly Option<KeyArgument?> _key = KeyOptions.Key(
        "The source of the key for encrypted databases without a source of their own");
    private readonly Option<KeySource?> _masterKey = KeyOptions.MasterKey();
    private readonly Option<(string Database, KeyArgument Key)[]> _databaseKeys = KeyOptions.DatabaseKeys();

    public void AddTo(Command command)
    {
        command.Add(_key);
        command.Add(_masterKey);
        command.Add(_databaseKeys);
    }

    /// <summary>Creates the keys for a command line; the caller disposes them. Reads no key yet.</summary>
    public DirectoryKeys Of(Shell shell, DataDirectory directory, ParseResult parsed) =>
        new(shell, directory, parsed.GetValue(_key), parsed.GetValue(_masterKey), parsed.GetValue(_databaseKeys) ?? []);
}
