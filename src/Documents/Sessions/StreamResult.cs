namespace Treepie.Sessions;

/// <summary>A result of a stream: an object that the session does not follow.</summary>
/// <param name="Id">The document's id.</param>
/// <param name="Document">The object.</param>
/// <param name="ChangeVector">The document's change vector.</param>
/// <typeparam name="T">What results are.</typeparam>
public sealed record StreamResult<T>(string Id, T Document, string ChangeVector);
