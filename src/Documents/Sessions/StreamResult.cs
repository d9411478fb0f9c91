namespace Treepie.Sessions;

/// <summary>A result of a stream, which the session does not track.</summary>
/// <param name="Id">The id of the document.</param>
/// <param name="Document">The deserialized document.</param>
/// <param name="ChangeVector">The change vector of the document.</param>
/// <typeparam name="T">The type of the results.</typeparam>
public sealed record StreamResult<T>(string Id, T Document, string ChangeVector);
