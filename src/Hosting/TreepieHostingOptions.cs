using Microsoft.Extensions.Configuration;
using Treepie.Encryption;
using Treepie.Sessions;

namespace Treepie.Extensions.Hosting;

/// <summary>Options of a database in a program that uses the .NET generic host.</summary>
public sealed class TreepieHostingOptions
{
    /// <summary>
    /// The directory of the database, created if it does not exist. Required unless <see cref="InMemory"/> is set.
    /// </summary>
    public string? Path { get; set; }

    /// <summary>
    /// Whether to use a database that is deleted when the program ends, for tests. <see cref="Path"/> is then ignored.
    /// </summary>
    public bool InMemory { get; set; }

    /// <summary>
    /// Where the key of an encrypted database is read from each time it is opened; not used in memory. Null:
    /// <see cref="DatabaseOptions.EncryptionKey"/>.
    /// </summary>
    public KeySource? Key { get; set; }

    /// <summary>
    /// The duration from which queries are logged as slow, from their call until their results have been read. Default: one
    /// second. Null: none are.
    /// </summary>
    public TimeSpan? SlowQueries { get; set; } = TimeSpan.FromSeconds(1);

    /// <summary>
    /// The interval at which the database and its indexes are checked: an error is logged if the database cannot be written or an
    /// index has stopped. Default: 30 seconds.
    /// </summary>
    public TimeSpan BackgroundChecks { get; set; } = TimeSpan.FromSeconds(30);

    /// <summary>The options and limits of the database.</summary>
    public DatabaseOptions Database { get; set; } = new();

    /// <summary>
    /// The options of sessions. Null: entities are serialized as <see cref="DatabaseOptions.Json"/> specifies, or by reflection.
    /// </summary>
    public SessionOptions? Session { get; set; }

    /// <summary>
    /// Sets what a section of the configuration has: <c>Path</c>, <c>InMemory</c>, <c>Key</c> (such as
    /// <c>file:/keys/shop.key</c>), <c>SlowQueries</c>, <c>BackgroundChecks</c>, and of the database <c>Name</c>,
    /// <c>MaxQueryTime</c>, <c>DefaultStaleWait</c>, <c>TombstoneRetention</c>, <c>MaxDocumentBytes</c> and
    /// <c>MaxAttachmentBytes</c>. Needs no reflection.
    /// </summary>
    /// <exception cref="InvalidOperationException">A setting is unknown, or its value cannot be read.</exception>
    public void Read(IConfiguration section)
    {
        ArgumentNullException.ThrowIfNull(section);
        SectionReader.Read(section, this);
    }

    /// <summary>Opens the database.</summary>
    /// <param name="name">The name of a database in memory that is not given one; null: the default.</param>
    /// <param name="executed">Called after each query.</param>
    internal Database Open(string? name, Action<QueryExecution>? executed)
    {
        DatabaseOptions database = Database with
        {
            Name = Database.Name ?? (InMemory ? name : null),
            QueryExecuted = Database.QueryExecuted + executed,
        };
        if (InMemory)
            return Treepie.Database.OpenInMemory(database);
        string path = Path ?? throw new InvalidOperationException("The options have not been validated.");
        return Key is null ? Treepie.Database.Open(path, database) : Treepie.Database.Open(path, database, Key);
    }
}
