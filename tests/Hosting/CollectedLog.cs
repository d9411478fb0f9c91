using System.Collections.Concurrent;
using Microsoft.Extensions.Logging;

namespace Treepie.Extensions.Hosting.Tests;

/// <summary>Keeps what is logged.</summary>
internal sealed class CollectedLog : ILoggerFactory, ILogger
{
    private readonly ConcurrentQueue<string> _lines = new();

    /// <summary>What was logged: <c>Warning: text</c>.</summary>
    public IReadOnlyList<string> Lines => [.. _lines];

    public ILogger CreateLogger(string categoryName) => this;

    public void AddProvider(ILoggerProvider provider)
    {
        // It is the only one.
    }

    public IDisposable? BeginScope<TState>(TState state)
        where TState : notnull => null;

    public bool IsEnabled(LogLevel logLevel) => true;

    public void Log<TState>(
        LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
        _lines.Enqueue($"{logLevel}: {formatter(state, exception)}");

    public void Dispose()
    {
        // Nothing is held.
    }
}
