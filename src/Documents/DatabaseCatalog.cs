namespace Treepie;

/// <summary>Many databases below one directory, by (case-insensitive) name. Thread-safe.</summary>
public sealed class DatabaseCatalog : IDisposable, IAsyncDisposable
{
    /// <summary>Opens the directory; databases themselves are opened at first use.</summary>
    public DatabaseCatalog(string directory, DatabaseOptions? options = null) => throw new NotImplementedException();

    /// <summary>Names of all databases, sorted.</summary>
    public IReadOnlyList<string> Names => throw new NotImplementedException();

    /// <summary>Creates a database and opens it.</summary>
    /// <exception cref="ArgumentException">The name is not usable.</exception>
    /// <exception cref="ConcurrencyException">A database of that name exists.</exception>
    public Database Create(string name) => throw new NotImplementedException();

    /// <summary>The database of that name, opened if need be; null if there is none.</summary>
    public Database? Find(string name) => throw new NotImplementedException();

    /// <summary>Closes and forgets a database, and deletes its files if asked; false if there is none.</summary>
    public bool Delete(string name, bool deleteFiles) => throw new NotImplementedException();

    /// <inheritdoc/>
    public void Dispose() => throw new NotImplementedException();

    /// <inheritdoc/>
    public ValueTask DisposeAsync() => throw new NotImplementedException();
}
