using System.Diagnostics.CodeAnalysis;
using Treepie.Encryption;
using Treepie.Storage;

namespace Treepie.Computing.Tests.Pages;

/// <summary>Blocks that are whole programs, beside the file of a key.</summary>
[SuppressMessage("Performance", "CA1812", Justification = "Its blocks use it.")]
public sealed class ProgramPage : IPageState
{
    Task IPageState.BeginAsync(string directory)
    {
        using EncryptionKey key = EncryptionKey.Generate();
        KeyFile.Create(Path.Combine(directory, "shop.key"), key);
        return Task.CompletedTask;
    }

    Task IPageState.EndAsync() => Task.CompletedTask;

    public void Dispose()
    {
        // A program closes what it has opened.
    }
}
