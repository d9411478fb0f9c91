using System.Text;
using Microsoft.Extensions.Logging;

namespace Treepie.Server.Tests.Support;

/// <summary>A log that a test reads: category and message, a line each, with what exceptions say. Thread-safe.</summary>
internal sealed class WrittenLog : ILoggerProvider
{
    private readonly StringBuilder _text = new();

    public string Text
    {
        get
        {
            lock (_text)
                return _text.ToString();
        }
    }

    public ILogger CreateLogger(string categoryName) => new Category(this, categoryName);

    public void Dispose()
    {
    }

    private sealed class Category(WrittenLog log, string name) : ILogger
    {
        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => true;

        public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?,
            string> formatter)
        {
            lock (log._text)
                log._text.AppendLine(System.Globalization.CultureInfo.InvariantCulture,
                    $"{name}: {formatter(state, exception)} {exception}");
        }
    }
}
