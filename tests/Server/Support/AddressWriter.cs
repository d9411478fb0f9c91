namespace Treepie.Server.Tests.Support;

/// <summary>Standard output that waits for the address.</summary>
internal sealed class AddressWriter : StringWriter
{
    private const string Prefix = "Server available on: ";

    private readonly TaskCompletionSource<string> _address = new(TaskCreationOptions.RunContinuationsAsynchronously);

    public Task<string> Address => _address.Task;

    public override Task WriteLineAsync(string? value)
    {
        if (value?.StartsWith(Prefix, StringComparison.Ordinal) == true)
            _address.TrySetResult(value[Prefix.Length..]);

        return base.WriteLineAsync(value);
    }
}
